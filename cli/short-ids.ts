/**
 * The minimum number of characters of a short identifier, which is the end of a complete identifier. A short identifier
 * consists of the last characters of an identifier, because the last characters are random and therefore different. The
 * first characters of an identifier encode the time of its creation. All rows of an import can have the same creation
 * time.
 */
const fewestCharacters = 8;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const endOfUuid = new RegExp(`^[0-9a-f-]{${fewestCharacters},35}$`, 'i');

/** Whether a text is a complete identifier. */
export const isId = (text: string) => uuid.test(text);

/**
 * Whether `text` is the short identifier of an object whose complete identifier is `id`. A short identifier is the end
 * of the complete identifier.
 */
export const isShortFor = (text: string, id: string) =>
  endOfUuid.test(text) && id.toLowerCase().endsWith(text.toLowerCase());

/**
 * Returns the short identifiers of objects. All short identifiers have the same length: the smallest length at which
 * all short identifiers are different.
 */
export function shortIds(ids: readonly string[]): string[] {
  const different = new Set(ids).size;
  let length = fewestCharacters;
  while (new Set(ids.map((id) => id.slice(-length))).size < different) length += 1;
  return ids.map((id) => id.slice(-length));
}
