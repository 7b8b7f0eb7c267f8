const minuteMs = 60_000;

/** The numbers of vehicles that entered and left a location in one interval of time. */
interface Traffic {
  entries: number;
  exits: number;
}

/**
 * Returns the time at which the local hour that contains a given instant starts. In some time zones, such as UTC+5:30,
 * an hour of local time does not begin at the same time as an hour of UTC.
 */
function startOfHour(at: number, minuteFormat: Intl.DateTimeFormat): number {
  const start = Math.floor(at / minuteMs) * minuteMs - Number(minuteFormat.format(at)) * minuteMs;
  // If the clocks changed by half an hour between `start` and `at`, the local time at `start` is not a full hour.
  // `startOfHour` therefore calls itself again, until its result no longer changes.
  return start < at ? startOfHour(start, minuteFormat) : start;
}

/**
 * Returns how many vehicles entered and left a location in each hour. For the time range of one day, `points` contains
 * four data points for each hour, and the function adds up their entries and exits.
 *
 * @param zone the time zone of the location. Like the gateway, the function starts each hour when the clocks of the
 *   location show a full hour. The hours follow the clocks of the location even if the console shows its times in
 *   another time zone
 */
export function hourlyTraffic(
  points: readonly (Traffic & { at: string })[],
  zone: string,
): (Traffic & { at: number })[] {
  const minuteFormat = new Intl.DateTimeFormat('en-GB', { timeZone: zone, minute: 'numeric' });
  const hours = new Map<number, Traffic>();
  for (const { at, entries, exits } of points) {
    const hour = startOfHour(Date.parse(at), minuteFormat);
    const sums = hours.get(hour) ?? { entries: 0, exits: 0 };
    hours.set(hour, { entries: sums.entries + entries, exits: sums.exits + exits });
  }
  return [...hours].map(([at, sums]) => ({ at, ...sums }));
}
