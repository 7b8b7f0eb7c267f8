import { z } from 'zod';
import {
  maxWeeklyHours,
  type WeeklyHours as Hours,
  type Weekday as Day,
  weekdays,
} from '../src/whitelist/hours.ts';
import { builder } from './builder.ts';
import { formedText, isObject } from './rules.ts';

const from = formedText(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'Must be a time of day, such as 07:00');
const to = formedText(
  /^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/,
  'Must be a time of day, such as 19:00 or 24:00',
);

/**
 * Validates the list of days in the weekly hours that a client sends. Removes repeated days, and sorts the days in the
 * order of the week.
 */
const days = z
  .array(z.enum(weekdays))
  .min(1, 'At least one day is required')
  .transform((named) => weekdays.filter((day) => named.includes(day)));

/** Validates weekly hours. If the list of weekly hours is empty or null, the vehicle may enter at all times. */
export const weeklyHoursRule = z
  .array(
    z.object({ days, from, to }).refine((hours) => hours.from !== hours.to, {
      path: ['to'],
      message: 'Must differ from `from`; a whole day is 00:00 to 24:00',
      when: isObject,
    }),
  )
  .max(maxWeeklyHours, `At most ${maxWeeklyHours} times of the week are allowed`)
  .transform((hours): Hours[] | null => (hours.length > 0 ? hours : null));

const dayNames = Object.fromEntries(
  weekdays.map((day) => [day, { description: `${day[0]}${day.slice(1).toLowerCase()}.` }]),
) as Record<Day, { description: string }>;

const Weekday = builder.enumType('Weekday', { description: 'A day of the week.', values: dayNames });

const descriptions = {
  days: 'The days of the week on which the time span starts.',
  from: "Start, such as `07:00`, in the location's local time.",
  to: "End, such as `19:00` or `24:00`, in the location's local time. If the end is earlier than `from`, the time span ends on the next day.",
};

export const WeeklyHours = builder.objectRef<Hours>('WeeklyHours').implement({
  description: "A time span that repeats every week, in the location's local time.",
  fields: (t) => ({
    days: t.field({ type: [Weekday], description: descriptions.days, resolve: (hours) => [...hours.days] }),
    from: t.exposeString('from', { description: descriptions.from }),
    to: t.exposeString('to', { description: descriptions.to }),
  }),
});

export const WeeklyHoursInput = builder.inputType('WeeklyHoursInput', {
  description:
    "A time span that repeats every week, in the location's local time. The local time takes daylight saving time into account.",
  fields: (t) => ({
    days: t.field({ type: [Weekday], required: true, description: descriptions.days }),
    from: t.string({ required: true, description: descriptions.from }),
    to: t.string({ required: true, description: descriptions.to }),
  }),
});
