import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a Prisma transaction may wait for a connection, and how long the transaction may take, in milliseconds.
 * Prisma's defaults (2 s and 5 s) are too short for an import, and for fifty consecutive writes on the embedded
 * database.
 */
export const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

/**
 * The time after which PostgreSQL ends a statement, in milliseconds, so that no statement occupies a connection
 * forever.
 */
export const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * PostgreSQL settings that limit how long a frozen gateway process can block others, in milliseconds. PostgreSQL ends a
 * transaction whose gateway process sends nothing for 5 s, and so releases its locks. Another statement waits up to 8 s
 * for a lock, so it outlasts the frozen process and gets the lock.
 */
export const LOCK_LIMITS_MS = { idle_in_transaction_session_timeout: 5_000, lock_timeout: 8_000 };

/** The longest time that the database may take to answer a probe, in milliseconds. */
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Waits at most one second for the answer to a probe.
 *
 * @throws when the probe fails or takes longer
 */
export async function answersInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = new AbortController();
  const late = sleep(PROBE_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PROBE_TIMEOUT_MS} ms`);
  });
  // If the time limit comes first, a later failure of the probe must not become an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
