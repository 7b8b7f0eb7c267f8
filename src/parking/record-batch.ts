import pLimit from 'p-limit';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Author } from '../auth/key.ts';
import { type RowError, rowError } from '../errors/row-error.ts';
import { ServiceError } from '../errors/error-table.ts';
import type { Database } from '../database/types.ts';
import type { LocationReads } from '../locations/reads.ts';
import type { LocationNotices } from '../locations/notices.ts';
import { createTurns, type Turns } from '../locations/turns.ts';
import { recordReadings } from './record-readings.ts';
import type { Reading } from './seen-plate.ts';

/** How many events one call may have. */
export const maxEventsPerCall = 1_000;

/**
 * How many events one transaction records: it locks the location for a fraction of a second, and the embedded database
 * for everybody.
 */
const eventsPerTransaction: Record<Database['kind'], number> = { postgresql: 200, embedded: 25 };

/** How many batches a process records at once: each holds a connection, which others need too. */
const maxBatchesAtOnce = 2;

/** How many batches of one key may wait in a process; each holds the rows of its call in memory. */
const maxWaitingBatchesPerKey = 20;

/** What a call did, in rows. */
export interface ReadingsResult {
  total: number;
  recorded: number;
  unchanged: number;
  corrected: number;
  /** In the order of the rows. */
  rejected: RejectedReading[];
}

/** A row that was not taken. */
export interface RejectedReading {
  /** Place of the row in the call, counted from 0. */
  index: number;
  /** Why, in the words that a single event would get. */
  error: RowError;
}

/** The recording of many events at once in one database. */
export type ParkingBatches = ReturnType<typeof createParkingBatches>;

/**
 * Prepares the recording of many events at once. One batch of each key runs at a time: where the locations of a key are
 * locked, the batches of other keys go on.
 */
export function createParkingBatches(services: {
  prisma: PrismaClient;
  locations: Pick<LocationReads, 'find'>;
  locationTurns: Turns;
  statusNotices: LocationNotices;
  /** The kind of the database. */
  kind: Database['kind'];
}) {
  const { prisma, locations, locationTurns, statusNotices, kind } = services;
  const batchSize = eventsPerTransaction[kind];
  const keyTurns = createTurns({
    maxWaiting: maxWaitingBatchesPerKey,
    refusal: `More than ${maxWaitingBatchesPerKey} batches of this key are waiting, please try again later`,
  });
  const limitOfProcess = pLimit(maxBatchesAtOnce);

  return {
    /**
     * Records what gates of one location saw, as `recordEvent` would row by row in their order. Rows that break a rule
     * are reported and the others taken. Each batch is one transaction and has a turn of its own, so that single events
     * of the location come between: a call that fails half-way can be sent again.
     *
     * A state of the location is told once for each batch, by what it is before and after.
     *
     * @param readRow gives the reading of a row, or throws the `ServiceError` that says what is wrong with it
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `RATE_LIMIT_EXCEEDED` when too many changes
     *   of the location, or too many batches of the key, are waiting
     */
    async recordEvents(
      author: Author,
      locationId: string,
      rows: readonly unknown[],
      readRow: (row: unknown) => Reading,
    ): Promise<ReadingsResult> {
      await locations.find(author.key, locationId);
      const result: ReadingsResult = {
        total: rows.length,
        recorded: 0,
        unchanged: 0,
        corrected: 0,
        rejected: [],
      };
      const recordBatch = (readings: readonly Reading[], mayRefuse: boolean) =>
        keyTurns.run(
          author.key.id,
          () =>
            limitOfProcess(() =>
              locationTurns.run(
                locationId,
                () =>
                  prisma.$transaction((transaction) =>
                    recordReadings(transaction, author, locationId, readings),
                  ),
                { mayRefuse },
              ),
            ),
          { mayRefuse },
        );
      try {
        for (let start = 0; start < rows.length; start += batchSize) {
          const readings: Reading[] = [];
          for (const [position, row] of rows.slice(start, start + batchSize).entries()) {
            try {
              readings.push(readRow(row));
            } catch (error) {
              if (!(error instanceof ServiceError)) throw error;
              result.rejected.push({ index: start + position, error: rowError(error) });
            }
          }
          if (readings.length === 0) continue;
          // What was committed before must not end in a refusal.
          const recorded = await recordBatch(readings, start === 0);
          for (const { outcome } of recorded) result[outcome] += 1;
        }
      } finally {
        if (result.recorded + result.corrected > 0) statusNotices.publish(locationId);
      }
      return result;
    },
  };
}
