import { z } from 'zod';
import { hasInexactNumber } from '../src/json/exact-numbers.ts';
import { shown } from '../src/errors/error-table.ts';
import { isId } from '../src/ids.ts';

/** The maximum value of a GraphQL `Int`, and of its database column. */
const maxGraphInt = 2_147_483_647;

// Texts may contain tabs and newlines, but no other control characters, such as NUL (docs/contract.md#strings).

const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/**
 * Whether every database and client can store a text. It must be well-formed Unicode and have no control characters
 * except tab and newline.
 */
function isText(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}

// JSON Schema cannot show a check that a rule does in code, so the rule describes the check in `meta`. Patterns use
// only syntax that regular expressions of other languages also have.

/**
 * Creates the rule for a text with at most `max` characters (UTF-16 units). The text is stored as the client sent it.
 */
export const text = (max: number) =>
  z
    .string()
    .max(max, `Must be at most ${max} characters`)
    .refine(isText, 'Must not contain control characters or invalid Unicode')
    .meta({ pattern: '^[^\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F]*$' });

/**
 * Validates an identifier. The rule accepts any text, because the response for a malformed identifier is the same as
 * for an unknown identifier. A long text is cut to the length of `details.value`, and each character that the database
 * cannot store becomes U+FFFD.
 */
export const identifier = z
  .string()
  .transform((value) =>
    isId(value) ? value : String(shown(value)).replace(new RegExp(controlCharacter, 'g'), '\ufffd'),
  );

/** Validates the value of a list filter. An empty value means no filter (docs/contract.md#filters). */
export const textFilter = text(500)
  .transform((value) => value || undefined)
  .nullish();

/** Creates the rule for a text with at least one character that is not white space. */
export const filledText = (max: number, message: string) =>
  text(max)
    .refine((value) => value.trim() !== '', message)
    .meta({ minLength: 1, allOf: [{ pattern: '\\S' }] });

/**
 * Creates the rule for a text that matches a regular expression. The regular expression must not match the empty text.
 */
export const formedText = (form: RegExp, message: string) =>
  z.string().regex(form, message).meta({ minLength: 1 });

/** Creates the rule for a name from a list that the contract does not contain, such as the list of time zones. */
export const listedName = (isListed: (value: string) => boolean, message: string) =>
  z.string().refine(isListed, message).meta({ minLength: 1, pattern: '\\S' });

/** Creates the rule for a text that is either empty or has a given format. */
export const emptyOr = (
  format: 'email' | 'uri',
  rule: z.ZodString,
  { isValid, message }: { isValid: (value: string) => boolean; message: string },
) =>
  rule
    .refine((value) => value === '' || isValid(value), message)
    .meta({ pattern: undefined, anyOf: [{ maxLength: 0 }, { format }] });

/** Creates the rule for an object with at least one field. */
export const atLeastOneField = <Rule extends z.ZodObject>(rule: Rule) =>
  rule
    .refine((fields) => Object.keys(fields).length > 0, 'At least one field to change is required')
    .meta({ minProperties: 1 });

/**
 * Creates the rule for the text of a URL. White space is not allowed, because URL parsers remove it silently, and two
 * different texts could then mean the same URL.
 */
export const urlText = (max: number) =>
  text(max).refine((value) => !/\s/.test(value), 'Must not contain white space');

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * Creates the rule for a slug, which has 1 to 50 characters: lowercase letters, digits, and single hyphens between them
 * (docs/contract.md#company).
 */
export const slug = (message: string) =>
  z.string().max(50, 'Must be at most 50 characters').regex(slugForm, message).meta({ minLength: 1 });

const earliestInstant = new Date(0);
const latestInstant = new Date('9999-12-31T23:59:59.999Z');

/**
 * Validates an instant in the years 1970 to 9999 of UTC (docs/contract.md#instants). The value is an ISO 8601 text with
 * an offset, or the Date that the DateTime scalar has made from such a text.
 */
export const instant = z
  .union(
    [z.date(), z.iso.datetime({ offset: true }).transform((value) => new Date(value))],
    'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z',
  )
  .refine(
    (value) => value >= earliestInstant && value <= latestInstant,
    'Must be in the years 1970 to 9999 (UTC)',
  );

/** Creates the rule for a whole number in the range of a GraphQL `Int`. */
export const wholeNumber = (minimum: number, maximum = maxGraphInt) =>
  z
    .number()
    .int('Must be a whole number')
    .min(minimum, `Must be ${minimum} or more`)
    .max(maximum, `Must be ${maximum} or less`);

/** Validates the version that a client has read. The first version is 1. */
export const expectedVersion = wholeNumber(0).nullish();

/**
 * The limits of a JSON object with free content (docs/contract.md#settings). The limits are low, because a list of
 * companies contains one object for each company.
 */
const maxObjectLevels = 10;
const maxObjectKibibytes = 16;

/**
 * Validates a JSON object with free content. Its depth and size are limited, and the gateway must be able to return
 * exactly the same members and values.
 */
export const freeObject = z.custom<Record<string, unknown>>((value) => freeObjectFault(value) === undefined, {
  error: ({ input }) => freeObjectFault(input),
});

/** Returns what is wrong with a JSON object with free content, or undefined when the object is valid. */
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
  if (hasExactNumbers(value)) return undefined;
  return 'Must not contain numbers that a 64-bit floating point number cannot represent exactly, such as 12345678901234567890: send them as text';
}

/** Whether each number in a JSON value stays the same when the value is stored and returned. */
function hasExactNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return !hasInexactNumber(value) && Object.values(value).every(hasExactNumbers);
}

/**
 * Whether a JSON value has at most the given number of nesting levels, and contains only strings that the database can
 * store.
 */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 && Object.entries(value).every(([key, item]) => isText(key) && isStorable(item, levels - 1))
  );
}
