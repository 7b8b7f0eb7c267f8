/**
 * The shortest length of a short identifier. It is taken from the end, where identifiers are random. They begin with a
 * time, which is the same for all rows of an import.
 */
const fewestCharacters = 8;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const endOfUuid = new RegExp(`^[0-9a-f-]{${fewestCharacters},35}$`, 'i');

/** Whether a text is a complete identifier. */
export const isId = (text: string) => uuid.test(text);

/** Whether a text is a short form of an identifier: the identifier ends with it. */
export const isShortFor = (text: string, id: string) =>
  endOfUuid.test(text) && id.toLowerCase().endsWith(text.toLowerCase());

/** The last characters of identifiers, as many as are needed to distinguish them. */
export function shortIds(ids: readonly string[]): string[] {
  const different = new Set(ids).size;
  let length = fewestCharacters;
  while (new Set(ids.map((id) => id.slice(-length))).size < different) length += 1;
  return ids.map((id) => id.slice(-length));
}
