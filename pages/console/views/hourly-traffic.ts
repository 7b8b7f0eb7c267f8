const minuteMs = 60_000;

/** The numbers of vehicles that entered and left a location in one interval of time. */
interface Traffic {
  entries: number;
  exits: number;
}

/**
 * Returns the start of the local hour in which a given instant lies. In some time zones, such as UTC+5:30, an hour of
 * local time does not begin at the same time as an hour of UTC.
 */
function startOfHour(at: number, minuteFormat: Intl.DateTimeFormat): number {
  const start = Math.floor(at / minuteMs) * minuteMs - Number(minuteFormat.format(at)) * minuteMs;
  // A change of the clocks by half an hour between `start` and `at` makes `start` wrong: `start` is then not at a full
  // hour of the local time. `startOfHour` therefore calls itself again, until its result no longer changes.
  return start < at ? startOfHour(start, minuteFormat) : start;
}

/**
 * Returns how many vehicles entered and left a location in each hour. For the time range of one day, `points` contains
 * four data points for each hour. The function adds up the entries and exits of these four points.
 *
 * @param zone the time zone of the location. Like the gateway, the function uses the full hours of the local time at
 *   the location, such as 14:00 to 15:00. The hours follow the clocks of the location even if the console shows its
 *   times in another time zone
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
