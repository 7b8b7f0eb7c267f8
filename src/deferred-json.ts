/**
 * A value that is too large to be held with others: it is read when its place in the answer is reached, as JSON, and
 * passed on as it is.
 */
export class DeferredJson {
  /** Reads the JSON; at once or when it is its turn. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
