/**
 * A value that is too large to be kept in memory with others. It is read as JSON when the response is written up to its
 * place, and copied to the response without parsing.
 */
export class DeferredJson {
  /** Reads the JSON. May wait for a slot first. */
  readonly read: () => Promise<string>;

  constructor(read: () => Promise<string>) {
    this.read = read;
  }
}
