import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Author } from '../auth/key.ts';
import { type RowError, rowError } from '../errors/row-error.ts';
import { ServiceError } from '../errors/error-table.ts';
import type { Database } from '../database/types.ts';
import type { LocationFinder } from '../location-access/find-location.ts';
import type { LocationNotices } from '../location-access/notices.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots, type Slots } from '../scheduling/slots.ts';
import { recordReadings } from './record-readings.ts';
import type { Reading } from './match-entries.ts';

/** The maximum number of parking events in one call. */
export const maxEventsPerCall = 1_000;

/**
 * How many events one transaction records. The transaction locks the location for a fraction of a second. On the
 * embedded database, all other requests wait for the transaction.
 */
const eventsPerTransaction: Record<Database['kind'], number> = { postgresql: 200, embedded: 25 };

/** The result of a call that records many events, as numbers of rows. */
export interface ReadingsResult {
  total: number;
  recorded: number;
  unchanged: number;
  corrected: number;
  /** The rejected rows, in the order of the rows in the call. */
  rejected: RejectedReading[];
}

/** A row of a call that was not recorded as an event. */
export interface RejectedReading {
  /** The index of the row in the call, counted from 0. */
  index: number;
  /** The reason why the row was rejected. A single event would get the same message. */
  error: RowError;
}

/** The functions that record many events at once in one database. */
export type ParkingBatches = ReturnType<typeof createParkingBatches>;

/** Creates the functions that record many events. */
export function createParkingBatches(services: {
  prisma: PrismaClient;
  locations: LocationFinder;
  locationSlots: Slots;
  statusNotices: LocationNotices;
  /** The kind of the database of the gateway. */
  kind: Database['kind'];
}) {
  const { prisma, locations, locationSlots, statusNotices, kind } = services;
  const batchSize = eventsPerTransaction[kind];
  const batchSlots = createSlots(slotLimits.eventBatches);

  return {
    /**
     * Records events of the gates of one location, in the order of the rows, like `recordEvent`. Invalid rows are
     * reported and the other rows are recorded. Each batch is one transaction, and single events of the location can
     * run between batches. A call that fails half-way can be repeated.
     * The state of the location is announced at most once per batch, if the state changed.
     *
     * @param readRow converts a row to a reading, or throws a `ServiceError` that says what is wrong with the row
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `RATE_LIMIT_EXCEEDED` when too many
     *   changes of the location, or too many batches of the key, are waiting
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
        batchSlots.run(
          author.key.id,
          () =>
            locationSlots.run(
              locationId,
              () =>
                prisma.$transaction((transaction) =>
                  recordReadings(transaction, author, locationId, readings),
                ),
              { mayRefuse },
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
          // Only the first batch may be refused, because the call must not fail after a batch is committed.
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
