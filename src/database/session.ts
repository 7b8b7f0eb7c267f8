import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a Prisma transaction may wait for a connection and how long it may take, in milliseconds. Prisma's defaults
 * (2 s and 5 s) are too short for an import, and for fifty consecutive writes on the embedded database.
 */
export const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

/**
 * The time after which PostgreSQL ends a statement, in milliseconds, so that no statement occupies a connection
 * forever.
 */
export const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * PostgreSQL settings that limit how long a frozen gateway process can block others, in milliseconds. PostgreSQL ends a
 * transaction whose gateway process sends nothing for 5 s, and so releases its locks. A statement waits for a lock for
 * at most 8 s, which is longer, so it gets the lock of a frozen process.
 */
export const LOCK_LIMITS_MS = { idle_in_transaction_session_timeout: 5_000, lock_timeout: 8_000 };

/** The longest time that the database may take to answer a probe, in milliseconds. */
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Waits for the answer to a probe, for at most one second.
 *
 * @throws when the probe fails or takes longer
 */
export async function answersInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = new AbortController();
  const late = sleep(PROBE_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PROBE_TIMEOUT_MS} ms`);
  });
  // The promise that loses the race must not cause an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
