import { z } from 'zod';
import { hasInexactNumber } from '../src/json/exact-numbers.ts';
import { shown } from '../src/errors/error-table.ts';
import { isId } from '../src/ids.ts';

/** The largest value of a GraphQL `Int` and of its database column. */
const maxGraphInt = 2_147_483_647;

// Tab and newline are text. Other control characters, such as NUL, are not (docs/contract.md#strings).

const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Text that every database and client can hold: well-formed Unicode, no control characters but tab and newline. */
function isText(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}

// A rule that checks by code describes its effect as JSON Schema in `meta`. Patterns use only the syntax that the regular
// expressions of other languages share.

/** A string kept as sent, of at most `max` characters (UTF-16 units). */
export const text = (max: number) =>
  z
    .string()
    .max(max, `Must be at most ${max} characters`)
    .refine(isText, 'Must not contain control characters or invalid Unicode')
    .meta({ pattern: '^[^\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F]*$' });

/**
 * An identifier. A value that is no UUID cannot exist, and gets the same response as an unknown identifier. Therefore
 * it is cut to the length of `details.value`, with U+FFFD for each character that the database cannot store.
 */
export const identifier = z
  .string()
  .transform((value) =>
    isId(value) ? value : String(shown(value)).replace(new RegExp(controlCharacter, 'g'), '\ufffd'),
  );

/** The value of a list filter. An empty value means no filter (docs/contract.md#filters). */
export const textFilter = text(500)
  .transform((value) => value || undefined)
  .nullish();

/** Text with at least one character that is not white space. */
export const filledText = (max: number, message: string) =>
  text(max)
    .refine((value) => value.trim() !== '', message)
    .meta({ minLength: 1, allOf: [{ pattern: '\\S' }] });

/** Text that matches a regular expression; the empty text must not match. */
export const formedText = (form: RegExp, message: string) =>
  z.string().regex(form, message).meta({ minLength: 1 });

/** A name from a list that is not part of the contract, such as the list of time zones. */
export const listedName = (isListed: (value: string) => boolean, message: string) =>
  z.string().refine(isListed, message).meta({ minLength: 1, pattern: '\\S' });

/** Text that is empty or has a format. */
export const emptyOr = (
  format: 'email' | 'uri',
  rule: z.ZodString,
  { isValid, message }: { isValid: (value: string) => boolean; message: string },
) =>
  rule
    .refine((value) => value === '' || isValid(value), message)
    .meta({ pattern: undefined, anyOf: [{ maxLength: 0 }, { format }] });

/** An object with at least one field. */
export const atLeastOneField = <Rule extends z.ZodObject>(rule: Rule) =>
  rule
    .refine((fields) => Object.keys(fields).length > 0, 'At least one field to change is required')
    .meta({ minProperties: 1 });

/** The text of a URL. URL parsers remove white space silently, so two different texts could mean the same URL. */
export const urlText = (max: number) =>
  text(max).refine((value) => !/\s/.test(value), 'Must not contain white space');

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A slug: lowercase letters, digits and single inner hyphens, 1-50 characters (docs/contract.md#company). */
export const slug = (message: string) =>
  z.string().max(50, 'Must be at most 50 characters').regex(slugForm, message).meta({ minLength: 1 });

const earliestInstant = new Date(0);
const latestInstant = new Date('9999-12-31T23:59:59.999Z');

/**
 * An instant: an ISO 8601 string with an offset, or the Date that the DateTime scalar made of one, in the years
 * 1970 to 9999 of UTC (docs/contract.md#instants).
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

/** A whole number in the range of a GraphQL `Int`. */
export const wholeNumber = (minimum: number, maximum = maxGraphInt) =>
  z
    .number()
    .int('Must be a whole number')
    .min(minimum, `Must be ${minimum} or more`)
    .max(maximum, `Must be ${maximum} or less`);

/** The version that a client has seen. Versions start at 1. */
export const expectedVersion = wholeNumber(0).nullish();

/**
 * The limits of a free object (docs/contract.md#settings). They are low because lists of companies show every object.
 */
const maxObjectLevels = 10;
const maxObjectKibibytes = 16;

/** A JSON object of limited depth and size. It must come back with the same members and values. */
export const freeObject = z.custom<Record<string, unknown>>((value) => freeObjectFault(value) === undefined, {
  error: ({ input }) => freeObjectFault(input),
});

/** The fault of a free object; undefined when it is valid. */
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

/** Whether every number of a JSON value comes back exactly as sent. */
function hasExactNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return !hasInexactNumber(value) && Object.values(value).every(hasExactNumbers);
}

/** Whether a JSON value has at most the given number of levels, and only strings that the database can store. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 && Object.entries(value).every(([key, item]) => isText(key) && isStorable(item, levels - 1))
  );
}
