/** A channel through which one part of the process passes values to one reader, one value at a time. */
export interface LatestValue<Value> {
  /**
   * Adds a value to the channel. The new value replaces a value with the same key that the reader has not yet received.
   */
  push(value: Value): void;
  /**
   * Closes the channel. After a call of `end`, the reader of the channel receives no more values. The channel discards
   * all values that the reader has not yet received.
   */
  end(): void;
  /**
   * The iterator with which the reader gets the values of the channel. The iterator ends when the reader stops reading,
   * or after a call of `end`.
   */
  values: AsyncIterableIterator<Value>;
}

/**
 * Creates a channel that passes values to one reader. If the reader is slower than the writer, the channel keeps only
 * the latest value of each key.
 *
 * @param onEnd the function that is called when the reader of the channel stops reading
 * @param keyOf returns the key under which the channel keeps a value; by default, all values have the same key
 */
export function createLatestValue<Value>(
  onEnd: () => void | Promise<void>,
  keyOf: (value: Value) => unknown = () => undefined,
): LatestValue<Value> {
  const latest = new Map<unknown, Value>();
  let ended = false;
  let wake = () => {};
  const end = () => {
    ended = true;
    wake();
  };
  const values: AsyncIterableIterator<Value> = {
    async next() {
      if (latest.size === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
      const [first] = latest;
      if (!first || ended) return { done: true, value: undefined };
      const [key, value] = first;
      latest.delete(key);
      return { done: false, value };
    },
    async return() {
      end();
      await onEnd();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  return {
    push(value) {
      latest.set(keyOf(value), value);
      wake();
    },
    end,
    values,
  };
}
