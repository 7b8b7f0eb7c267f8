/**
 * A JSON value that is too large to keep several of its kind in memory. The value is read only when the response has
 * been written up to its place. Its text is then copied to the response without parsing.
 */
export class DeferredJson {
  /** Reads the value as JSON text. The function may first wait for a slot. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
