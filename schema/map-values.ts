/** Returns an object with the same keys. Each new value is computed from the old value and its key. */
export function mapValues<Key extends string, Value, Result>(
  object: Readonly<Record<Key, Value>>,
  map: (value: Value, key: Key) => Result,
): Record<Key, Result> {
  const keys = Object.keys(object) as Key[];
  return Object.fromEntries(keys.map((key) => [key, map(object[key], key)])) as Record<Key, Result>;
}
