/**
 * The minimum length of a short identifier. It consists of the last characters of an identifier, which are random. The
 * first characters are a time, which is the same for all rows of an import.
 */
const fewestCharacters = 8;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const endOfUuid = new RegExp(`^[0-9a-f-]{${fewestCharacters},35}$`, 'i');

/** Whether a text is a complete identifier. */
export const isId = (text: string) => uuid.test(text);

/** Whether an identifier ends with a text that a user has given as a short identifier. */
export const isShortFor = (text: string, id: string) =>
  endOfUuid.test(text) && id.toLowerCase().endsWith(text.toLowerCase());

/** Returns short identifiers. Each has as many characters from the end as are needed to distinguish all identifiers. */
export function shortIds(ids: readonly string[]): string[] {
  const different = new Set(ids).size;
  let length = fewestCharacters;
  while (new Set(ids.map((id) => id.slice(-length))).size < different) length += 1;
  return ids.map((id) => id.slice(-length));
}
