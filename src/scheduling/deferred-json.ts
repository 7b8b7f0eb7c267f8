/**
 * A large JSON value in a response. The gateway reads a large value only after it has written all earlier parts of the
 * response, so at most one large value of a response is in memory at a time. The gateway copies the JSON text of a
 * large value to the response without parsing the text.
 */
export class DeferredJson {
  /** Reads the large value as JSON text. A call of `read` may have to wait until another read ends. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
