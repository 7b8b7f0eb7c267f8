import { useEffect, useMemo, useState } from 'react';

const hourMs = 3_600_000;

/**
 * The interval, in milliseconds, at which a page requests the data of its plots again. A request for the data of the
 * plots costs one or two rate limit points.
 */
const plotRefreshMs = 15 * 60_000;

/**
 * Returns the time range of the plots on a page, which is the last `hours` hours. The time range moves forward every 15
 * minutes, so that the page requests the data of its plots again.
 */
export function usePlotPeriod(hours: number): { from: string; to: string } {
  const [refreshes, setRefreshes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRefreshes((count) => count + 1), plotRefreshMs);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => {
    const now = Date.now();
    return { from: new Date(now - hours * hourMs).toISOString(), to: new Date(now).toISOString() };
  }, [hours, refreshes]);
}
