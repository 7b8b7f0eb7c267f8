import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { databaseNow } from '../database/clock.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { everyLocation, lockLocation } from '../location-access/lock.ts';
import type { LocationNotices } from '../location-access/notices.ts';
import { announceState } from './occupancy.ts';
import type { LocationSlots } from '../location-access/location-slots.ts';
import { type ChangedPlate, refreshSessions } from './refresh-sessions.ts';
import { endFades, maxSessionsPerTransaction, overdueLocations, overdueSessions } from './stay-statements.ts';

/**
 * Ends parking sessions and occupancy adjustments that are older than the maximum stay at their location. When the
 * gateway ends a parking session because its maximum stay is over, subscriptions and webhooks report the end of the
 * session. In database queries, a parking session or an occupancy adjustment counts as ended as soon as its maximum
 * stay is over. This module may store the end some seconds later.
 */
export interface StayExpiry {
  /**
   * Ends all parking sessions and occupancy adjustments that are older than the maximum stay at their location. Returns
   * the number of locations that had a parking session or an occupancy adjustment older than the maximum stay.
   */
  endOverdueStays(): Promise<number>;
  /**
   * Stops the regular checks for sessions whose maximum stay is over. If such a regular check is running, `close` waits
   * until the check has finished its current transaction.
   */
  close(): Promise<void>;
}

/**
 * The interval at which the process looks for sessions whose maximum stay is over, in milliseconds. Subscriptions and
 * webhooks therefore report the end of a parking session up to 10 seconds late.
 */
const checkIntervalMs = 10_000;

/**
 * Starts a check that runs every 10 seconds and ends the sessions whose maximum stay is over. Every gateway process
 * checks all parking sessions, but each session is ended only once.
 */
export function createStayExpiry(services: {
  prisma: PrismaClient;
  sql: Sql;
  log: Logger;
  locationSlots: LocationSlots;
  statusNotices: LocationNotices;
}): StayExpiry {
  const { prisma, sql, log, locationSlots, statusNotices } = services;
  let closed = false;
  let running: Promise<unknown> = Promise.resolve();

  /**
   * Ends all overdue occupancy adjustments and one batch of overdue parking sessions at one location. A parking session
   * is overdue when its maximum stay is over. Returns the number of parking sessions that the function ended. If the
   * function ended only occupancy adjustments, it returns 1.
   */
  const endBatch = (locationId: string) =>
    locationSlots.run(
      null,
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

  /**
   * Ends all overdue parking sessions of a location, in batches. A parking session is overdue when its maximum stay is
   * over.
   */
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
