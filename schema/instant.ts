import { z } from 'zod';

const earliestInstant = new Date(0);
const latestInstant = new Date('9999-12-31T23:59:59.999Z');

/**
 * Matches an ISO 8601 date and time with a UTC offset. The matched text may omit the seconds of the time, or may
 * contain a fraction of a second.
 */
const isoInstant = new RegExp(
  [undefined, -1].map((precision) => z.regexes.datetime({ offset: true, precision }).source).join('|'),
);

/**
 * Validates an instant from the year 1970 to the year 9999 in UTC (docs/contract.md#instants). An instant is an ISO
 * 8601 text with a UTC offset, or a `Date` that the scalar `DateTime` has created from this text. The text may omit the
 * seconds, as Java's `OffsetDateTime` does when the seconds are zero.
 */
export const instant = z
  .union(
    [
      z.date(),
      z
        .string()
        .regex(isoInstant)
        .meta({ format: 'date-time', pattern: undefined })
        .transform((value) => new Date(value)),
    ],
    'Must be an ISO 8601 date and time with an offset, such as 2026-01-31T08:00:00Z',
  )
  .refine(
    (value) => value >= earliestInstant && value <= latestInstant,
    'Must be in the years 1970 to 9999 (UTC)',
  );

/**
 * Returns the reason why a value from a client or a file is not a valid instant, or `undefined` for a valid instant.
 */
export const instantFault = (value: unknown): string | undefined =>
  instant.safeParse(value).error?.issues[0]?.message;
