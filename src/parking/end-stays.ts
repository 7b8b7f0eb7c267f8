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
 * Ends the sessions and occupancy adjustments whose maximum stay is over, and notifies subscriptions and webhooks.
 * Queries already treat them as ended from the exact time on.
 */
export interface StayExpiry {
  /** Ends all sessions and adjustments whose maximum stay is over. Returns the number of changed locations. */
  endOverdueStays(): Promise<number>;
  /** Stops the checks. The current location is still finished. */
  close(): Promise<void>;
}

/**
 * How often the process looks for sessions whose maximum stay is over, in milliseconds. Notices to subscriptions and
 * webhooks can be late by this time.
 */
const checkIntervalMs = 10_000;

/**
 * The maximum number of sessions that one transaction ends. A transaction of this size locks the location for only a
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
 * Starts to check every few seconds for sessions whose maximum stay is over. Every process runs the check, but each
 * session is ended only once.
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
   * Ends some overdue sessions of a location. A session is overdue when its maximum stay is over. Returns the number of
   * ended sessions; 0 means that nothing has changed.
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

  /** Ends all overdue sessions of a location, in batches. A session is overdue when its maximum stay is over. */
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
