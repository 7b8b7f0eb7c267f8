/**
 * A large JSON value in a response. The gateway reads a large value only after it has written all earlier parts of the
 * response. At most one large value of the response is therefore in memory at a time. The gateway copies the JSON text
 * of a large value to the response without parsing the text.
 */
export class DeferredJson {
  /**
   * Reads the large value as JSON text. The gateway limits the number of concurrent reads, so a call of `read` may have
   * to wait.
   */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
