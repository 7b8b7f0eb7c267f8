import { z } from 'zod';

/** The longest `Int` of GraphQL, and of the column behind it. */
const largestInteger = 2_147_483_647;

// Tab and newline are text; other control characters, NUL first, are not (decisions, "strings").

const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Text that every database and client can hold: well-formed Unicode, no control characters but tab and newline. */
export function isText(value: string): boolean {
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

/** An instant: an ISO 8601 string with an offset, or the Date that the DateTime scalar made of one. */
export const instant = z.union(
  [z.date(), z.iso.datetime({ offset: true }).transform((value) => new Date(value))],
  'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z',
);

/** A whole number of a size that the graph's `Int` can carry. */
export const wholeNumber = (minimum: number, maximum = largestInteger) =>
  z
    .number()
    .int('Must be a whole number')
    .min(minimum, `Must be ${minimum} or more`)
    .max(maximum, `Must be ${maximum} or less`);

const deepestJson = 32;

/** Free JSON whose strings the database can hold, nested at most 32 levels. */
export const freeObject = z.custom<Record<string, unknown>>(
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && isStorable(value, deepestJson),
  `Must be an object nested at most ${deepestJson} levels, without control characters or invalid Unicode`,
);

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth > 0 && Object.entries(value).every(([key, item]) => isText(key) && isStorable(item, depth - 1))
  );
}
