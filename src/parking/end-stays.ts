import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { databaseNow } from '../database/clock.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { everyLocation, lockLocation } from '../location-access/lock.ts';
import type { LocationNotices } from '../location-access/notices.ts';
import { announceState } from './occupancy.ts';
import type { Slots } from '../scheduling/slots.ts';
import { type ChangedPlate, refreshSessions } from './refresh-sessions.ts';

/**
 * Ends sessions and occupancy adjustments whose longest stay is over, and notifies subscriptions and webhooks. Reads of
 * the database treat such sessions and adjustments as ended even before that.
 */
export interface StayExpiry {
  /** Ends all overdue sessions and adjustments now. Returns the number of changed locations. */
  endOverdueStays(): Promise<number>;
  /** Stops ending sessions after the current location. */
  close(): Promise<void>;
}

/**
 * How often the database is checked, in milliseconds. Subscriptions and webhooks are notified with up to this delay.
 */
const checkIntervalMs = 10_000;

/**
 * The maximum number of sessions that one transaction ends. A transaction of this size locks the location only for a
 * fraction of a second.
 */
const maxSessionsPerTransaction = 500;

const overdueLocations = namedStatement(
  'parking-overdue-locations',
  `
  SELECT DISTINCT s."locationId" FROM "ParkingSession" s WHERE s.open AND s."staysUntil" <= now()
  UNION SELECT k."locationId" FROM "OccupancyCount" k WHERE k."fadesAt" <= now()`,
);

const endFades = namedStatement(
  'occupancy-counts-faded',
  `
  UPDATE "OccupancyCount" SET "fadesAt" = NULL
  WHERE "locationId" = $locationId AND "fadesAt" <= now() RETURNING id`,
);

const overdueSessions = namedStatement(
  'parking-overdue-sessions',
  `
  SELECT s."plateType", s."plateCode", s."plateNumber", s."staysUntil" AS "occurredAt" FROM "ParkingSession" s
  WHERE s."locationId" = $locationId AND s.open AND s."staysUntil" <= now()
  ORDER BY s."staysUntil", s.id LIMIT ${maxSessionsPerTransaction}`,
);

/**
 * Starts a check, every few seconds, for sessions whose longest stay is over. Every process runs the check, but each
 * session ends only once.
 */
export function createStayExpiry(services: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  locationSlots: Slots;
  statusNotices: LocationNotices;
}): StayExpiry {
  const { prisma, sql, log, locationSlots, statusNotices } = services;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  /**
   * Ends one batch of sessions of a location. Returns the number of ended sessions, which is 0 when nothing has
   * changed.
   */
  const endBatch = (locationId: string) =>
    locationSlots.run(
      locationId,
      () =>
        prisma.$transaction(async (transaction) => {
          const location = await lockLocation(transaction, locationId, everyLocation);
          const overdue = await queryInTransaction<ChangedPlate>(transaction, overdueSessions, {
            locationId,
          });
          const faded = await queryInTransaction(transaction, endFades, { locationId });
          if (overdue.length + faded.length === 0) return 0;
          const author = { key: null, requestId: newId() };
          await refreshSessions(transaction, author, location, overdue, await databaseNow(transaction));
          await announceState(transaction, author, location);
          return Math.max(overdue.length, 1);
        }),
      { mayRefuse: false },
    );

  /** Ends the overdue sessions of a location, in batches. */
  async function endAll(locationId: string): Promise<void> {
    for (let ended = maxSessionsPerTransaction; ended === maxSessionsPerTransaction && !closed;) {
      ended = await endBatch(locationId);
      if (ended > 0) statusNotices.publish(locationId);
    }
  }

  async function endOverdueStays(): Promise<number> {
    const locations = await sql.query<{ locationId: string }>(overdueLocations, []);
    for (const { locationId } of locations) {
      await endAll(locationId).catch((error: unknown) =>
        log.warn(
          { err: error, locationId },
          'overdue sessions of a location could not be ended; retrying in 10 s',
        ),
      );
    }
    return locations.length;
  }

  let timer: NodeJS.Timeout;
  function schedule(): void {
    timer = setTimeout(() => {
      running = endOverdueStays()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'overdue sessions could not be read; retrying in 10 s'),
        )
        .then(() => {
          if (!closed) schedule();
        });
    }, checkIntervalMs);
    timer.unref();
  }
  schedule();

  return {
    endOverdueStays,
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
