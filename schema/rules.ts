import { GRAPHQL_MAX_INT } from 'graphql';
import { z } from 'zod';
import { containsInexactNumber, inexactNumberMessage } from '../src/json/exact-numbers.ts';
import { shown } from '../src/errors/error-table.ts';
import { isId } from '../src/ids.ts';

// Texts in requests may contain tabs and newlines, but no other control characters, such as NUL
// (docs/contract.md#strings).

const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/**
 * Whether a text is safe to store and to send: every database and every client can handle the text. The text must be
 * well-formed Unicode, and must contain no control characters except tab and newline.
 */
function isText(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}

// A Zod check in code (`refine`) does not appear in the generated JSON Schema. The validation rules therefore describe
// such a check again with Zod's method `meta`, for example as a regular expression in the JSON Schema. The regular
// expressions of the validation rules use only syntax that other programming languages also support.

/**
 * Whether a text has at most `max` characters (Unicode code points). The keyword `maxLength` in JSON Schema also counts
 * code points. In JavaScript, a code point has one or two UTF-16 units.
 */
const hasAtMost = (max: number, value: string) =>
  value.length <= max || (value.length <= 2 * max && [...value].length <= max);

/**
 * Creates the validation rule for a text with at most `max` characters. The validation rule does not change the text,
 * so the gateway stores the text exactly as the client sent it.
 */
export const text = (max: number) =>
  z
    .string()
    .refine((value) => hasAtMost(max, value), `Must be at most ${max} characters`)
    .refine(isText, 'Must not contain control characters or invalid Unicode')
    .meta({ maxLength: max, pattern: '^[^\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F]*$' });

/**
 * Validates an identifier. An identifier may be any text, because the gateway responds to a malformed identifier in the
 * same way as to an unknown identifier. The error response contains the malformed identifier in `details.value`. The
 * validation rule therefore shortens a long identifier to the maximum length of `details.value`. PostgreSQL cannot
 * store NUL, so the validation rule also replaces forbidden control characters with the character U+FFFD.
 */
export const identifier = z
  .string()
  .transform((value) =>
    isId(value) ? value : String(shown(value)).replace(new RegExp(controlCharacter, 'g'), '\ufffd'),
  );

/**
 * Validates the value of a list filter. If the value of the filter is empty, the filter has no effect
 * (docs/contract.md#filters).
 */
export const textFilter = text(500)
  .transform((value) => value || undefined)
  .nullish();

/** Creates the validation rule for a text that is not empty and does not consist only of white space. */
export const filledText = (max: number, message: string) =>
  text(max)
    .refine((value) => value.trim() !== '', message)
    .meta({ minLength: 1, allOf: [{ pattern: '\\S' }] });

/**
 * Creates the validation rule that a text must match a regular expression. The regular expression must not match the
 * empty text.
 */
export const formedText = (form: RegExp, message: string) =>
  z.string().regex(form, message).meta({ minLength: 1 });

/** Creates the validation rule for a text that the function `isListed` accepts, such as the name of a time zone. */
export const listedName = (isListed: (value: string) => boolean, message: string) =>
  z.string().refine(isListed, message).meta({ minLength: 1, pattern: '\\S' });

/** Creates the validation rule for a text that either is empty or has a given format, such as an email address. */
export const emptyOr = (
  format: 'email' | 'uri',
  rule: z.ZodString,
  { isValid, message }: { isValid: (value: string) => boolean; message: string },
) =>
  rule
    .refine((value) => value === '' || isValid(value), message)
    .meta({ pattern: undefined, anyOf: [{ maxLength: 0 }, { format }] });

/**
 * Whether a value is an object. A Zod check that compares several fields of an object uses the function `isObject` as
 * its option `when`. Without the option `when`, Zod would skip the check if any field had an invalid type. If Zod
 * skipped this comparison, the error message would not name every invalid field. With the option `when`, Zod runs the
 * check even if some fields have invalid types. The Zod check must therefore not assume that the types are valid.
 */
export const isObject = ({ value }: { value: unknown }): boolean =>
  typeof value === 'object' && value !== null;

/** Creates the validation rule for an object with at least one field. */
export const atLeastOneField = <Rule extends z.ZodObject>(rule: Rule) =>
  rule
    .refine((fields) => Object.keys(fields).length > 0, 'At least one field to change is required')
    .meta({ minProperties: 1 });

/**
 * Creates the validation rule for a text that contains a URL. White space is not allowed in a URL, because URL parsers
 * remove white space silently. If white space were allowed, two different texts could mean the same URL.
 */
export const urlText = (max: number) =>
  text(max).refine((value) => !/\s/.test(value), 'Must not contain white space');

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const maxSlugLength = 50;

/**
 * Creates the validation rule for a slug (docs/contract.md#company). A slug has 1 to 50 characters. The characters of a
 * slug are lowercase letters and digits, with single hyphens between them.
 */
export const slug = (message: string) =>
  z
    .string()
    .max(maxSlugLength, `Must be at most ${maxSlugLength} characters`)
    .regex(slugForm, message)
    .meta({ minLength: 1 });

/** A text that describes a valid slug, for the descriptions of GraphQL fields. */
export const slugDescription = `1 to ${maxSlugLength} characters: lowercase letters, digits and single hyphens between them.`;

/**
 * Creates the validation rule for a whole number in the range of a GraphQL `Int`. An integer column of PostgreSQL has
 * the same range as a GraphQL `Int`.
 */
export const wholeNumber = (minimum: number, maximum = GRAPHQL_MAX_INT) =>
  z
    .number()
    .int('Must be a whole number')
    .min(minimum, `Must be ${minimum} or more`)
    .max(maximum, `Must be ${maximum} or less`);

/**
 * Validates the argument `expectedVersion`: the version of the location or whitelist entry that the client has read. A
 * new location or whitelist entry has version 1.
 */
export const expectedVersion = wholeNumber(0).nullish();

/**
 * The limits of a JSON object with arbitrary content, such as the settings of a company (docs/contract.md#settings).
 * The settings of a company must be small, because a list of companies contains the settings of each company.
 */
const maxObjectLevels = 10;
const maxObjectKibibytes = 16;

/**
 * Validates a JSON object with arbitrary content. The validation rule limits the depth and the size of the object. The
 * validation rule also rejects texts that the database cannot store, and numbers that JavaScript cannot represent
 * exactly.
 */
export const freeObject = z.custom<Record<string, unknown>>((value) => freeObjectFault(value) === undefined, {
  error: ({ input }) => freeObjectFault(input),
});

/**
 * Returns the error message for an invalid JSON object with arbitrary content, or `undefined` if the object is valid.
 */
function freeObjectFault(value: unknown): string | undefined {
  const isStorableObject =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    isStorable(value, maxObjectLevels) &&
    Buffer.byteLength(JSON.stringify(value)) <= maxObjectKibibytes * 1024;
  if (!isStorableObject) {
    return `Must be an object of at most ${maxObjectLevels} levels and ${maxObjectKibibytes} KiB of JSON, without control characters or invalid Unicode`;
  }
  return containsInexactNumber(value) ? inexactNumberMessage : undefined;
}

/** Whether a JSON value has at most `levels` nesting levels, and the database can store all strings in the value. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 && Object.entries(value).every(([key, item]) => isText(key) && isStorable(item, levels - 1))
  );
}
