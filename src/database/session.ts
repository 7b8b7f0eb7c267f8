import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A transaction waits this long for its turn and may take this long. Prisma's defaults (2 s, 5 s) are too
 * short for an import, and for fifty writers in a row on the embedded database.
 */
export const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

/** Ends a statement on the server, so that a forgotten one does not hold a connection for ever. */
export const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * What keeps a frozen gateway from holding others up, in milliseconds, by PostgreSQL's names. The server ends a
 * transaction whose gateway says nothing for 5 s, which frees its locks; who waits for a lock waits longer than
 * that, and no longer than 8 s.
 */
export const LOCK_LIMITS_MS = { idle_in_transaction_session_timeout: 5_000, lock_timeout: 8_000 };

/** How long the database may take to answer a probe. */
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Waits for the answer to a probe, a second at most.
 *
 * @throws when the database refuses or is late
 */
export async function answersInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = new AbortController();
  const late = sleep(PROBE_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PROBE_TIMEOUT_MS} ms`);
  });
  // The loser of the race must not become an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
