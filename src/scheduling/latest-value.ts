/** A channel that passes values to one reader. The reader receives one value at a time. */
export interface LatestValue<Value> {
  /** Adds a value to the channel. The value replaces an unread value with the same key. */
  push(value: Value): void;
  /** Ends the channel after the unread values. */
  end(): void;
  /** The iterator of the reader. The iteration ends when the reader stops, or after `end`. */
  values: AsyncIterableIterator<Value>;
}

/**
 * Creates a channel to one reader. When values arrive faster than the reader reads them, the channel keeps only the
 * latest value of each key.
 *
 * @param onEnd is called when the reader stops
 * @param keyOf returns the key of a value; when omitted, all values have the same key
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
