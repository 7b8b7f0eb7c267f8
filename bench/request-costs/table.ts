import { markdownTable } from '../markdown-table.ts';
import { median } from '../pairs.ts';
import type { RecordedCost } from '../recorded.ts';

// The bar: the most milliseconds of processor time for each point, absolute and as a multiple of the median.

const maxMilliseconds = 30;
const maxTimesMedian = 6;

/** The processor time of a point, in milliseconds. */
export const perPoint = ({ points, gatewayMs, postgresMs = 0 }: RecordedCost): number =>
  (gatewayMs + postgresMs) / points;

/** The most that a point may cost among these requests, in milliseconds. */
export const barOf = (costs: Record<string, RecordedCost>): number =>
  Math.min(maxMilliseconds, maxTimesMedian * median(Object.values(costs).map(perPoint)));

/** The costs as a Markdown table, with the most expensive points first. Costs above the bar are bold. */
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
