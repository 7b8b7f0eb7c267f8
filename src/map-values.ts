/** An object with the same keys, each value made from the value and the key of the given one. */
export function mapValues<Key extends string, Value, Result>(
  object: Readonly<Record<Key, Value>>,
  map: (value: Value, key: Key) => Result,
): Record<Key, Result> {
  const keys = Object.keys(object) as Key[];
  return Object.fromEntries(keys.map((key) => [key, map(object[key], key)])) as Record<Key, Result>;
}
