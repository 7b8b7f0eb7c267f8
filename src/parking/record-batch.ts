import type { WaitingAuthor } from '../auth/key.ts';
import { type RowError, rowError } from '../errors/row-error.ts';
import { ServiceError } from '../errors/error-table.ts';
import type { Database } from '../database/types.ts';
import type { LocationChangeServices } from '../location-access/change-services.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { recordReadings } from './record-readings.ts';
import type { Reading } from './match-entries.ts';

/** The maximum number of parking events in one request. */
export const maxEventsPerCall = 1_000;

/**
 * The maximum number of parking events that one transaction records. Each transaction records few parking events, so
 * that it locks the location for only a fraction of a second. On the embedded database, a transaction records fewer
 * events than on PostgreSQL, because all other requests wait until the transaction ends.
 */
const eventsPerTransaction: Record<Database['kind'], number> = { postgresql: 200, embedded: 25 };

/**
 * The result of a request with many parking events. The fields `total`, `recorded`, `unchanged` and `corrected` contain
 * numbers of parking events.
 */
export interface ReadingsResult {
  total: number;
  recorded: number;
  unchanged: number;
  corrected: number;
  /** The rejected parking events, in the order in which the client sent the events. */
  rejected: RejectedReading[];
}

/** A parking event that a client sent, but that the gateway did not record. */
export interface RejectedReading {
  /** The position of the rejected parking event in the list that the client sent, starting at 0. */
  index: number;
  /** The reason why the parking event was rejected: the error that a request with only this event would return. */
  error: RowError;
}

/** The functions that record all parking events of a request with many events. */
export type ParkingBatches = ReturnType<typeof createParkingBatches>;

/** Creates the function that records the parking events of a request with many events. */
export function createParkingBatches({
  prisma,
  locations,
  locationSlots,
  statusNotices,
  whitelistNotices,
  kind,
}: LocationChangeServices & {
  /** Whether the database is a PostgreSQL server or the embedded database. */
  kind: Database['kind'];
}) {
  const batchSize = eventsPerTransaction[kind];
  const batchSlots = createSlots(slotLimits.eventBatches);

  return {
    /**
     * Records many parking events from the gates of one location, in the order of the events in the request. Each
     * parking event has the same effect as a separate call of `recordEvent`. The gateway reports the invalid parking
     * events, and records all valid parking events. The function divides the parking events into batches, and records
     * each batch in one transaction. Between two batches of a request, the gateway can record parking events from other
     * requests. If a request fails after the gateway has recorded some batches of its events, the client can send the
     * whole request again. If the client sends recorded parking events again, these events stay unchanged. For each
     * batch of parking events, the gateway reports at most once that the location has become full or has free places
     * again.
     *
     * @param readRow converts a row of the request to a parking event, or throws a `ServiceError` that describes the
     *   invalid row
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location or batches of the API key are
     *   waiting. The error also occurs when the first batch of the request waits too long
     */
    async recordEvents(
      author: WaitingAuthor,
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
              author,
              locationId,
              () =>
                prisma.$transaction((transaction) =>
                  recordReadings(transaction, author, locationId, readings),
                ),
              { mayRefuse },
            ),
          { mayRefuse },
        );
      // The gateway may refuse the request with `RATE_LIMIT_EXCEEDED` only before the first transaction. After this
      // transaction, some events of the request are already stored.
      let mayRefuse = true;
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
          let size = readings.length;
          while (readings.length > 0) {
            const recorded = await recordBatch(readings.slice(0, size), mayRefuse);
            mayRefuse = false;
            for (const { outcome } of recorded) result[outcome] += 1;
            if (recorded.some(({ mayChangePass }) => mayChangePass)) whitelistNotices.publish(locationId);
            readings.splice(0, recorded.length);
            // `recordReadings` looks up all given parking events, but may stop before it has recorded all of them. The
            // next call of `recordReadings` gets at most twice as many events as this call recorded. Because the next
            // call gets so few events, the gateway looks up only a few events twice.
            size = 2 * recorded.length;
          }
        }
      } finally {
        if (result.recorded + result.corrected > 0) statusNotices.publish(locationId);
      }
      return result;
    },
  };
}
