import { createStatementBatch, maxJoinedRows } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { occupancyHistory } from './history-statements.ts';

/**
 * A data point of an occupancy history. The data point contains the number of vehicles inside at one time, and the
 * numbers of entries and exits until the next data point.
 */
export interface OccupancyPoint {
  at: Date;
  /**
   * The number of vehicles that were inside at the time `at`, computed from all parking events that the gateway has
   * received until now.
   */
  occupied: number;
  /** The number of vehicles that entered between this data point and the next data point of the history. */
  entries: number;
  exits: number;
}

/**
 * A query for the occupancy history of a location. `bounds` contains the start of each interval, followed by the end of
 * the last interval. The occupancy history has no data point for the end of the last interval.
 */
export interface HistoryQuestion {
  locationId: string;
  bounds: readonly Date[];
}

/**
 * The longest period, in milliseconds, whose parking sessions one SQL statement reads for one occupancy history. The
 * embedded database runs the SQL statements of gate decisions between two statements.
 */
const periodPerStatementMs = 7 * 24 * 3_600_000;

/** Splits an occupancy history into parts that one SQL statement can read. */
function partsOfHistory({ locationId, bounds }: HistoryQuestion): HistoryQuestion[] {
  const intervals = bounds.length - 1;
  const averageMs = periodOf(bounds) / intervals;
  const size = Math.max(1, Math.floor(periodPerStatementMs / averageMs));
  return Array.from({ length: Math.ceil(intervals / size) }, (_, part) => ({
    locationId,
    bounds: bounds.slice(part * size, (part + 1) * size + 1),
  }));
}

/** Returns the time from the first to the last bound of an occupancy history, in milliseconds. */
const periodOf = (bounds: readonly Date[]) => bounds.at(-1)!.getTime() - bounds[0]!.getTime();

/** The functions that read occupancy histories from the database. */
export type OccupancyHistory = ReturnType<typeof createOccupancyHistory>;

/**
 * Creates the functions that read occupancy histories. If callers request several occupancy histories in one iteration
 * of the event loop, one SQL statement reads all of them.
 */
export function createOccupancyHistory({ sql }: { sql: Sql }) {
  const readPart = createStatementBatch<HistoryQuestion, OccupancyPoint & { n: number }, OccupancyPoint[]>(
    sql,
    {
      statementOf: () => occupancyHistory,
      parametersOf: (questions) => ({
        n: questions.flatMap(({ bounds }, index) => bounds.map(() => index + 1)),
        locationId: questions.flatMap(({ locationId, bounds }) => bounds.map(() => locationId)),
        at: questions.flatMap(({ bounds }) => bounds),
      }),
      answerOf: (rows) => rows.map(({ at, occupied, entries, exits }) => ({ at, occupied, entries, exits })),
      keyOf: ({ locationId, bounds }) =>
        `${locationId} ${bounds.length} ${bounds[0]?.getTime()} ${bounds.at(-1)?.getTime()}`,
      // One SQL statement reads the parking sessions of at most `periodPerStatementMs` for all histories together.
      rowsOf: ({ bounds }) =>
        Math.max(bounds.length, (periodOf(bounds) / periodPerStatementMs) * maxJoinedRows),
    },
  );
  return {
    /**
     * Returns the data points of a location's occupancy history, oldest first. The caller must check that the location
     * is in the API key's scope before it calls this function.
     */
    async occupancyHistory(question: HistoryQuestion): Promise<OccupancyPoint[]> {
      const points: OccupancyPoint[] = [];
      for (const part of partsOfHistory(question)) points.push(...(await readPart(part)));
      return points;
    },
  };
}
