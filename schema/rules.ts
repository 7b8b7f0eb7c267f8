import { z } from 'zod';

/** The longest `Int` of GraphQL, and of the column behind it. */
const maxGraphInt = 2_147_483_647;

// Tab and newline are text; other control characters, NUL first, are not (decisions, "strings").

const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Text that every database and client can hold: well-formed Unicode, no control characters but tab and newline. */
function isText(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}

/** A string kept as sent, of at most `max` characters (UTF-16 units). */
export const text = (max: number) =>
  z
    .string()
    .max(max, `Must be at most ${max} characters`)
    .refine(isText, 'Must not contain control characters or invalid Unicode');

/** Text with at least one character that is not white space. */
export const filledText = (max: number, message: string) =>
  text(max).refine((value) => value.trim() !== '', message);

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A slug: lowercase letters, digits and single inner hyphens, 1-50 characters (specification, "Company"). */
export const slug = (message: string) =>
  z.string().max(50, 'Must be at most 50 characters').regex(slugForm, message);

const earliestInstant = new Date(0);
const latestInstant = new Date('9999-12-31T23:59:59.999Z');

/**
 * An instant: an ISO 8601 string with an offset, or the Date that the DateTime scalar made of one, in the years
 * 1970 to 9999 of UTC (decisions, "instants").
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

/** A whole number of a size that the graph's `Int` can carry. */
export const wholeNumber = (minimum: number, maximum = maxGraphInt) =>
  z
    .number()
    .int('Must be a whole number')
    .min(minimum, `Must be ${minimum} or more`)
    .max(maximum, `Must be ${maximum} or less`);

/** The version that a client has seen. It counts from 1: no row has version 0. */
export const expectedVersion = wholeNumber(0).nullish();

/** The bounds of a free object (decisions, "settings"): lists of companies show all of them. */
const maxObjectLevels = 10;
const maxObjectKibibytes = 16;

/** A JSON object of free content, of a bounded depth and size, whose strings the database can hold. */
export const freeObject = z.custom<Record<string, unknown>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    isStorable(value, maxObjectLevels) &&
    Buffer.byteLength(JSON.stringify(value)) <= maxObjectKibibytes * 1024,
  `Must be an object of at most ${maxObjectLevels} levels and ${maxObjectKibibytes} KiB of JSON, without control characters or invalid Unicode`,
);

/** Whether a JSON value has so many levels at most, and strings that the database can hold. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 && Object.entries(value).every(([key, item]) => isText(key) && isStorable(item, levels - 1))
  );
}
