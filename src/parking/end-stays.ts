import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { databaseNow } from '../database/clock.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { everyLocation, lockLocation } from '../locations/lock.ts';
import type { LocationNotices } from '../locations/notices.ts';
import { announceState } from '../locations/occupancy.ts';
import type { Turns } from '../locations/turns.ts';
import { type PlaceOfChange, refreshSessions } from './refresh-sessions.ts';

/** Tells of vehicles, and of differences, whose longest stay is over. Reads of the database know it without. */
export interface StayEnds {
  /** Tells of all of them now. Returns how many locations have changed. */
  endStays(): Promise<number>;
  /** Stops after the location under way. */
  close(): Promise<void>;
}

/** How often it is looked, in milliseconds: subscriptions and webhooks hear of an end that much later at the most. */
const checkIntervalMs = 10_000;

/** Sessions of one location that one transaction ends: it locks the location for a fraction of a second. */
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

/** Looks every few seconds for sessions whose longest stay is over, on every process: each is told of once. */
export function createStayEnds(services: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  locationTurns: Turns;
  statusNotices: LocationNotices;
}): StayEnds {
  const { prisma, sql, log, locationTurns, statusNotices } = services;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  /** Ends one batch of the sessions of a location. Returns how many those were, 0 when nothing has changed. */
  const endBatch = (locationId: string) =>
    locationTurns.run(
      locationId,
      () =>
        prisma.$transaction(async (transaction) => {
          const location = await lockLocation(transaction, locationId, everyLocation);
          const overdue = await queryInTransaction<PlaceOfChange>(transaction, overdueSessions, {
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

  /** Ends the sessions of a location, in batches. */
  async function endAll(locationId: string): Promise<void> {
    for (let ended = maxSessionsPerTransaction; ended === maxSessionsPerTransaction && !closed;) {
      ended = await endBatch(locationId);
      if (ended > 0) statusNotices.publish(locationId);
    }
  }

  async function endStays(): Promise<number> {
    const locations = await sql.query<{ locationId: string }>(overdueLocations, []);
    for (const { locationId } of locations) {
      await endAll(locationId).catch((error: unknown) =>
        log.warn(
          { err: error, locationId },
          'the ends of long stays could not be recorded; the next try is soon',
        ),
      );
    }
    return locations.length;
  }

  let timer: NodeJS.Timeout;
  function schedule(): void {
    timer = setTimeout(() => {
      running = endStays()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'the ends of long stays could not be read; the next try is soon'),
        )
        .then(() => {
          if (!closed) schedule();
        });
    }, checkIntervalMs);
    timer.unref();
  }
  schedule();

  return {
    endStays,
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
