/**
 * Returns a new object with the same property names as the given object. The function `map` computes each value of the
 * new object from the old value and the property name.
 */
export function mapValues<Key extends string, Value, Result>(
  object: Readonly<Record<Key, Value>>,
  map: (value: Value, key: Key) => Result,
): Record<Key, Result> {
  const keys = Object.keys(object) as Key[];
  return Object.fromEntries(keys.map((key) => [key, map(object[key], key)])) as Record<Key, Result>;
}
