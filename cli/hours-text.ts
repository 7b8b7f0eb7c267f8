import { type WeeklyHoursInput, Weekday } from './generated/operations.ts';

// On the command line and in files, weekly hours are written as a text, such as `MON-FRI 07:00-19:00; SAT 22:00-06:00`.

/**
 * The position of each weekday in the week. To sort weekdays, the command line needs the position of each weekday,
 * because the GraphQL enum `Weekday` does not define an order.
 */
const placeInWeek: Record<Weekday, number> = {
  [Weekday.MONDAY]: 0,
  [Weekday.TUESDAY]: 1,
  [Weekday.WEDNESDAY]: 2,
  [Weekday.THURSDAY]: 3,
  [Weekday.FRIDAY]: 4,
  [Weekday.SATURDAY]: 5,
  [Weekday.SUNDAY]: 6,
};
const weekdays = Object.values(Weekday).sort((a, b) => placeInWeek[a] - placeInWeek[b]);

/** Returns the short name of a weekday, such as `MON`. */
const shortOf = (day: Weekday) => day.slice(0, 3);

/** An example of weekly hours, which error messages show to the user. */
export const hoursForm = 'MON-FRI 07:00-19:00; SAT 22:00-06:00';

const timesForm = /^([A-Z,-]+)\s+([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})$/;

function dayOf(name: string): number {
  const day = weekdays.findIndex((known) => known === name || shortOf(known) === name);
  if (day < 0) throw new TypeError(`Not a day: ${name}`);
  return day;
}

/**
 * Parses days such as `MON-FRI`, `SAT` or `MON,WED`. A range of days can continue into the next week, so `FRI-MON`
 * includes Saturday and Sunday.
 */
function daysOf(text: string): Weekday[] {
  return text.split(',').flatMap((part) => {
    const [first, last = first, ...more] = part.split('-').map(dayOf);
    if (first === undefined || last === undefined || more.length > 0)
      throw new TypeError(`Not days: ${part}`);
    const count = ((last - first + weekdays.length) % weekdays.length) + 1;
    return Array.from({ length: count }, (_, index) => weekdays[(first + index) % weekdays.length]!);
  });
}

/**
 * Parses weekly hours. This function does not validate the times of day, because the gateway validates them.
 *
 * @throws {TypeError} when the text does not have the form of weekly hours
 */
export function parseHours(text: string): WeeklyHoursInput[] {
  const parts = text.split(';').map((part) => part.trim().toUpperCase());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const [, days, from, to] = timesForm.exec(part) ?? [];
      if (!days || !from || !to) throw new TypeError(`Not hours: ${part}`);
      return { days: daysOf(days), from, to };
    });
}

/**
 * Formats days as a text, in the order of the week. Three or more consecutive days are written as a range, such as
 * `MON-FRI`.
 */
function daysText(days: readonly Weekday[]): string {
  const runs: number[][] = [];
  for (const day of days.map((name) => weekdays.indexOf(name))) {
    const run = runs.at(-1);
    if (run && run.at(-1) === day - 1) run.push(day);
    else runs.push([day]);
  }
  const names = (run: number[]) => run.map((day) => shortOf(weekdays[day]!));
  return runs
    .map((run) => (run.length > 2 ? `${names(run)[0]}-${names(run).at(-1)}` : names(run).join(',')))
    .join(',');
}

/**
 * Formats weekly hours in the form that `parseHours` accepts. For an empty list of weekly hours, the function returns
 * an empty text.
 */
export const hoursText = (hours: readonly WeeklyHoursInput[]) =>
  hours.map(({ days, from, to }) => `${daysText(days)} ${from}-${to}`).join('; ');
