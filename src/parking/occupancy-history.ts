import { namedStatement } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { historyStatement } from './history-statement.ts';

/** The number of vehicles inside a location at one instant, and the entries and exits until the next point. */
export interface OccupancyPoint {
  at: Date;
  /** The number of vehicles that were inside at that instant, as the gateway knows today. */
  occupied: number;
  /** How many vehicles entered between this point and the next point. */
  entries: number;
  exits: number;
}

/**
 * A query for the occupancy history of a location. `bounds` comes from `historyBounds`; its last value is only the end
 * of the last interval.
 */
export interface HistoryQuestion {
  locationId: string;
  bounds: readonly Date[];
}

const occupancyHistory = namedStatement('parking-occupancy-history', historyStatement);

/** The functions that read occupancy histories from one database. */
export type OccupancyHistory = ReturnType<typeof createOccupancyHistory>;

/**
 * Creates the functions that read occupancy histories. One SQL statement answers all calls in the same iteration of the
 * event loop.
 */
export function createOccupancyHistory({ sql }: { sql: Sql }) {
  return {
    /**
     * Returns the points of a location's occupancy history in order. The caller must have checked that the location is
     * in the key's scope.
     */
    occupancyHistory: createStatementBatch<HistoryQuestion, OccupancyPoint & { n: number }, OccupancyPoint[]>(
      sql,
      {
        statementOf: () => occupancyHistory,
        parametersOf: (questions) => ({
          n: questions.flatMap(({ bounds }, index) => bounds.map(() => index + 1)),
          locationId: questions.flatMap(({ locationId, bounds }) => bounds.map(() => locationId)),
          at: questions.flatMap(({ bounds }) => bounds),
        }),
        answerOf: (rows) =>
          rows.map(({ at, occupied, entries, exits }) => ({ at, occupied, entries, exits })),
        keyOf: ({ locationId, bounds }) =>
          `${locationId} ${bounds.length} ${bounds[0]?.getTime()} ${bounds.at(-1)?.getTime()}`,
        rowsOf: ({ bounds }) => bounds.length,
      },
    ),
  };
}
