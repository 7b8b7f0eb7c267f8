import { ServiceError } from '../../errors/error-table.ts';
import { parseExactly } from '../../json/exact-numbers.ts';

/**
 * The maximum number of values in a JSON text, including values inside arrays and objects. An array or object counts as
 * `valuesOfContainer` values. An import of 10,000 rows with all fields and two weekly periods in each row has fewer
 * than `maxJsonValues` values.
 */
export const maxJsonValues = 400_000;

/**
 * The structure check counts one array or object as `valuesOfContainer` JSON values. Parsing an array or object takes
 * more memory than parsing a number.
 */
export const valuesOfContainer = 3;

/** The maximum number of nesting levels in a JSON text. */
const maxJsonDepth = 40;

/**
 * The maximum number of wide fields (fields of very large objects) in one JSON text. A field is wide if the same object
 * has at least `maxNarrowFields` earlier fields. The number of wide fields is limited, because parsing an object with
 * many fields takes much time and memory for each field. Clients rarely need objects with more than `maxNarrowFields`
 * fields. Only JSON values with arbitrary content, such as the company settings, can contain objects with more than
 * `maxNarrowFields` fields. JSON values with arbitrary content have at most 16 KiB.
 */
const maxWideFields = 5_000;
const maxNarrowFields = 100;

/**
 * The maximum length of a string in a JSON text, in characters including the quotes. Every text field of the API has a
 * lower maximum length than `maxStringCharacters`.
 */
const maxStringCharacters = 32_768;

/**
 * The maximum length of a field name in a JSON text, in characters including the quotes. If the client misspells a
 * field name, GraphQL searches for a similar name. The longer the misspelled name is, the longer the search takes. All
 * field names that clients need are shorter than `maxNameCharacters`.
 */
const maxNameCharacters = 1_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openingBracket = 0x5b;
const openingBrace = 0x7b;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

/**
 * Parses a JSON text that a client sent, after checking that the structure of the text is within the limits. The
 * function checks the structure of the JSON text before it parses the text. The structure check only counts the values
 * of the text, and takes milliseconds. Parsing millions of small values would block the process for seconds.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a text that is not JSON or that exceeds a limit; the error names no
 *   field
 */
export function parseJson(text: string): unknown {
  requireBoundedStructure(text);
  return parseBoundedJson(text);
}

/**
 * Parses a JSON text whose structure has already been checked (`requireBoundedStructure`).
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a text that is not JSON; the error names no field
 */
export function parseBoundedJson(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    // The client gets a fixed error message, because the message of the parser could repeat parts of the request body.
    throw notJson;
  }
}

/**
 * Creates a decoder for one text in UTF-8. The caller passes the bytes of the text in one or more parts, and then calls
 * the decoder without an argument. The decoder removes a byte order mark at the start of the text (Encoding standard,
 * "UTF-8 decode").
 *
 * @returns a function that returns the next characters of the text, and throws `VALIDATION_ERROR` for bytes that are
 *   not UTF-8
 */
export function createUtf8Decoder(): (part?: Uint8Array) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (part) => {
    try {
      return decoder.decode(part, { stream: part !== undefined });
    } catch {
      throw notJson;
    }
  };
}

/**
 * Converts the UTF-8 bytes of a complete text to a string. For a text that arrives in parts, the caller must use
 * `createUtf8Decoder`.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for bytes that are not UTF-8
 */
export function decodeUtf8(bytes: ArrayBuffer): string {
  try {
    return wholeTexts.decode(bytes);
  } catch {
    throw notJson;
  }
}

/**
 * The decoder for UTF-8 texts that are already complete. A text that arrives in parts needs a separate decoder, which
 * stores an incomplete character until the next part arrives.
 */
const wholeTexts = new TextDecoder('utf-8', { fatal: true });

/** The error for a request body that is not JSON. */
const notJson = new ServiceError('VALIDATION_ERROR', 'Request body must be valid JSON in UTF-8');

/**
 * Checks that the structure of a JSON text exceeds no limit, such as the maximum number of values or of nesting levels.
 *
 * @param faultOf a function that checks the structure of one JSON text. If a JSON text arrives in parts, the caller
 *   must pass the same function for all parts
 * @throws {ServiceError} `VALIDATION_ERROR` for a JSON text whose structure exceeds a limit
 */
export function requireBoundedStructure(text: string, faultOf = createStructureCheck()): void {
  const fault = faultOf(text);
  if (fault) throw new ServiceError('VALIDATION_ERROR', `Request body ${fault}`);
}

/**
 * Whether the structure of a stored JSON text is within the limits that keep parsing fast. The process applies the same
 * limits to a stored JSON text as to a JSON text from a client.
 */
export const isBoundedJson = (text: string): boolean => createStructureCheck()(text) === undefined;

/**
 * Creates a function that checks the structure of one JSON text. The structure check counts values, nesting levels and
 * characters, without parsing any value. The caller passes the JSON text as a whole or in parts. As soon as the JSON
 * text exceeds a limit, the structure check returns a description of this limit. The structure check reads each
 * character only once and keeps no text in memory. `bench/structure-check.ts` measures the speed of the structure
 * check.
 */
export function createStructureCheck(): (part: string) => string | undefined {
  let values = 1;
  let depth = 0;
  let wideFields = 0;
  /** For each nesting level: how many fields the current object has so far, or -1 if the current value is an array. */
  const fields = new Int32Array(maxJsonDepth + 2).fill(-1);
  /**
   * How many characters of the current JSON string the check has read, including the opening quote. While the check is
   * outside of a string, `openCharacters` is 0.
   */
  let openCharacters = 0;
  /** Whether a backslash escapes the next character of the current string. */
  let isEscaped = false;
  /**
   * Whether the last token that the structure check has read is a string that is too long to be a field name. In a JSON
   * text, a string before a colon is the name of a field.
   */
  let isLongName = false;

  return (part) => {
    let index = 0;
    while (index < part.length) {
      if (openCharacters > 0) {
        // The loop over the characters of a JSON string stops at the closing quote, at the end of the current part of
        // the JSON text, or at the maximum length of a string.
        const start = index - openCharacters;
        const limit = Math.min(part.length, start + maxStringCharacters);
        if (isEscaped) index += 1;
        while (index < limit) {
          const code = part.charCodeAt(index);
          if (code === quote) break;
          index += code === backslash ? 2 : 1;
        }
        isEscaped = index > part.length;
        openCharacters = Math.min(index, part.length) - start;
        if (openCharacters >= maxStringCharacters) {
          return `holds a text of more than ${maxStringCharacters} characters`;
        }
        if (index >= part.length) return undefined;
        isLongName = openCharacters >= maxNameCharacters;
        openCharacters = 0;
        index += 1;
        continue;
      }
      const code = part.charCodeAt(index);
      index += 1;
      if (isLongName && !isWhitespace(code)) {
        if (code === colon) return `has a field whose name has more than ${maxNameCharacters} characters`;
        isLongName = false;
      }
      switch (code) {
        case quote:
          openCharacters = 1;
          continue;
        case comma:
          values += 1;
          if (fields[depth]! >= 0 && (fields[depth]! += 1) >= maxNarrowFields) wideFields += 1;
          break;
        case openingBracket:
          values += valuesOfContainer;
          depth += 1;
          fields[depth] = -1;
          break;
        case openingBrace:
          values += valuesOfContainer;
          depth += 1;
          fields[depth] = 0;
          break;
        case closingBracket:
        case closingBrace:
          depth -= 1;
          continue;
        default:
          continue;
      }
      if (values > maxJsonValues) return `holds more than ${maxJsonValues} values`;
      if (wideFields > maxWideFields) return `has objects with more than ${maxWideFields} fields`;
      if (depth > maxJsonDepth) return `is nested more than ${maxJsonDepth} levels`;
    }
    return undefined;
  };
}

/** Whether a character is JSON whitespace, which may stand between a field name and its colon (RFC 8259, section 2). */
const isWhitespace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
