/**
 * A value that is too large to be kept in memory together with other values. Its JSON is read when the response is
 * written up to the place of the value, and is copied to the response without parsing.
 */
export class DeferredJson {
  /** Reads the JSON of the value. The read may first wait for a slot. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
