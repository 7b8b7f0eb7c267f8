import { markdownTable } from '../markdown-table.ts';
import { median } from '../pairs.ts';
import type { RecordedCost } from '../recorded.ts';

// One rate limit point may cost at most `maxMilliseconds` of processor time, and at most `maxTimesMedian` times the
// median of all kinds of requests.

const maxMilliseconds = 30;
const maxTimesMedian = 6;

/** Returns the processor time for one rate limit point, in milliseconds. */
export const perPoint = ({ points, gatewayMs, postgresMs = 0 }: RecordedCost): number =>
  (gatewayMs + postgresMs) / points;

/**
 * Returns how many milliseconds of processor time one rate limit point may cost. The result is the lower of two limits:
 * `maxMilliseconds`, and `maxTimesMedian` times the median cost of all kinds of requests.
 */
export const barOf = (costs: Record<string, RecordedCost>): number =>
  Math.min(maxMilliseconds, maxTimesMedian * median(Object.values(costs).map(perPoint)));

/**
 * Returns the costs as a Markdown table. The kinds of requests with the highest cost per point come first. Costs above
 * the maximum are shown in bold.
 */
export function costTable(costs: Record<string, RecordedCost>): string {
  const bar = barOf(costs);
  return markdownTable(
    ['request', 'points', 'price', 'gateway, ms', 'PostgreSQL, ms', `ms per point (≤ ${bar.toFixed(0)})`],
    Object.entries(costs)
      .toSorted(([, a], [, b]) => perPoint(b) - perPoint(a))
      .map(([name, cost]) => {
        const each = perPoint(cost).toFixed(1);
        return [
          name,
          String(cost.points),
          cost.priceOfContract ? 'contract' : 'gateway',
          cost.gatewayMs.toFixed(1),
          cost.postgresMs?.toFixed(1) ?? '–',
          perPoint(cost) > bar ? `**${each}**` : each,
        ];
      }),
  );
}
