import { ServiceError } from '../errors/error-table.ts';

/** Values in a JSON text, those in arrays and objects included: an import of 10,000 full rows fits. */
const maxJsonValues = 150_000;

/** Levels of nesting in a JSON text. */
const maxJsonDepth = 40;

/**
 * Fields of all objects beyond the first of each: objects with many fields take much time and memory. The largest that are
 * meant are free JSON of 16 KiB.
 */
const maxWideFields = 5_000;
const maxNarrowFields = 100;

/** Characters of a string in a JSON text, its quotes included: longer than any text that the service takes. */
const maxStringCharacters = 32_768;

/**
 * Characters of the name of a field, its quotes included: longer than any name of free JSON that is meant. To say which
 * field a misspelt one may have meant takes time that grows with its length.
 */
const maxNameCharacters = 1_000;

/** What decoding leaves in place of bytes that are not UTF-8, and of text that was lost before it came here. */
const replacementCharacter = '\u{fffd}';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openingBracket = 0x5b;
const openingBrace = 0x7b;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

/**
 * Parses a JSON text of a client, once its structure is known to be within bounds: to parse millions of small values
 * stops the process for seconds, to count them takes milliseconds.
 *
 * @param options.isBounded says that it is known
 * @throws {ServiceError} `VALIDATION_ERROR` with no field
 */
export function parseJson(text: string, { isBounded = false } = {}): unknown {
  if (!isBounded) requireBoundedStructure(text);
  requireWholeText(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's words could repeat the body: the client gets ours.
    throw notJson;
  }
}

/** @throws {ServiceError} `VALIDATION_ERROR` for a text that was decoded from bytes that are not UTF-8 */
export function requireWholeText(text: string): void {
  if (text.includes(replacementCharacter)) throw notJson;
}

/** What a body that is no JSON gets. */
const notJson = new ServiceError('VALIDATION_ERROR', 'Request body must be valid JSON in UTF-8');

/**
 * @param faultOf takes the text; when it comes in parts, what has taken the parts before
 * @throws {ServiceError} `VALIDATION_ERROR` for a JSON text whose structure is out of bounds
 */
export function requireBoundedStructure(text: string, faultOf = createStructureCheck()): void {
  const fault = faultOf(text);
  if (fault) throw new ServiceError('VALIDATION_ERROR', `Request body ${fault}`);
}

/** What is out of bounds in a JSON text; undefined for one that can be parsed in little time. */
export const structureFault = (text: string): string | undefined => createStructureCheck()(text);

/**
 * Creates what counts the values, levels and characters of a JSON text up to the bounds, without making anything of
 * them. It takes the text whole or in parts, one after the other, and says what is out of bounds as soon as it comes.
 */
export function createStructureCheck(): (part: string) => string | undefined {
  let values = 1;
  let depth = 0;
  let wideFields = 0;
  /** For each level how many fields its object has so far, or -1 for an array. */
  const fields = new Int32Array(maxJsonDepth + 2).fill(-1);
  /** The string that a part ended in. */
  let openString = '';
  /** Whether a long string has just ended, which is the name of a field if a colon comes next. */
  let isLongName = false;
  return (part) => {
    const text = openString + part;
    openString = '';
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (isLongName && !isWhitespace(code)) {
        if (code === colon) return `has a field whose name has more than ${maxNameCharacters} characters`;
        isLongName = false;
      }
      switch (code) {
        case quote: {
          const end = endOfString(text, index);
          if (end - index >= maxStringCharacters) {
            return `holds a text of more than ${maxStringCharacters} characters`;
          }
          if (end === text.length) {
            openString = text.slice(index);
            return undefined;
          }
          isLongName = end - index >= maxNameCharacters;
          index = end;
          break;
        }
        case comma:
          values += 1;
          if (fields[depth]! >= 0 && (fields[depth]! += 1) > maxNarrowFields) wideFields += 1;
          break;
        case openingBracket:
          values += 1;
          depth += 1;
          fields[depth] = -1;
          break;
        case openingBrace:
          values += 1;
          depth += 1;
          fields[depth] = 0;
          break;
        case closingBracket:
        case closingBrace:
          depth -= 1;
          break;
      }
      if (values > maxJsonValues) return `holds more than ${maxJsonValues} values`;
      if (wideFields > maxWideFields) return `has objects with more than ${maxWideFields} fields`;
      if (depth > maxJsonDepth) return `is nested more than ${maxJsonDepth} levels`;
    }
    return undefined;
  };
}

/** Characters that may stand between a name and its colon (RFC 8259, section 2). */
const isWhitespace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Where the string ends that starts at an index: at its closing quote, with the text, or somewhere out of bounds. */
function endOfString(text: string, start: number): number {
  for (let index = text.indexOf('"', start + 1); index !== -1; index = text.indexOf('"', index + 1)) {
    let escapes = 0;
    while (text.charCodeAt(index - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0 || index - start >= maxStringCharacters) return index;
  }
  return text.length;
}
