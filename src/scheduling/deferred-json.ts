/**
 * A large JSON value in a response. Several large values must not be in memory at the same time. So a large value is
 * read only after the gateway has written all earlier parts of the response. The gateway copies the JSON text of a
 * large value to the response without parsing the text.
 */
export class DeferredJson {
  /** Reads the large value as JSON text. A call of `read` may have to wait until another read ends. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
