import { markdownTable } from '../markdown-table.ts';
import { median } from '../pairs.ts';
import type { RecordedCost } from '../recorded.ts';

// Two constants limit how much processor time a request may use for each rate limit point that it costs. The processor
// time per rate limit point must not exceed `maxMilliseconds`. It must also not exceed `maxTimesMedian` times its
// median over all kinds of requests.

const maxMilliseconds = 30;
const maxTimesMedian = 6;

/** Returns the processor time of a request per rate limit point, in milliseconds. */
export const perPoint = ({ points, gatewayMs, postgresMs = 0 }: RecordedCost): number =>
  (gatewayMs + postgresMs) / points;

/**
 * Returns the maximum processor time per rate limit point, in milliseconds. The maximum is `maxTimesMedian` times the
 * median of this processor time over all kinds of requests, but never more than `maxMilliseconds`.
 */
export const barOf = (costs: Record<string, RecordedCost>): number =>
  Math.min(maxMilliseconds, maxTimesMedian * median(Object.values(costs).map(perPoint)));

/**
 * Returns the costs of the requests as a Markdown table. The table is sorted by the processor time per rate limit
 * point, with the highest processor time first. Processor times above the maximum are shown in bold.
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
