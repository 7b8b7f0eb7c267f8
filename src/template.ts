/**
 * Creates what makes objects of many members that are the same in most of them, such as the contexts of requests. The
 * members that differ have a place from the start: V8 takes 15 µs to add six members to a copy of twenty others.
 *
 * @param shared members that all of the objects have
 * @param own the names of the other members, which are `undefined` until they are given
 * @returns what makes an object of its own members, and of others that take the place of shared ones
 */
export function createTemplate<Shared extends object, Own extends object>(
  shared: Partial<Shared>,
  own: readonly (keyof (Shared & Own) & string)[],
): (given: Own, others?: Shared) => Shared & Own {
  const template = { ...shared, ...Object.fromEntries(own.map((name) => [name, undefined])) };
  return (given, others) => Object.assign({ ...template }, others, given) as Shared & Own;
}
