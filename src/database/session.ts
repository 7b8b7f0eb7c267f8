import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A transaction waits this long for its turn and may take this long. Prisma's defaults (2 s, 5 s) are too
 * short for an import, and for fifty writers in a row on the embedded database.
 */
export const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

const PING_TIMEOUT_MS = 1_000;

/**
 * Waits for the answer to a ping, about a second at most.
 *
 * @throws when the database refuses or is late
 */
export async function answersInTime(answer: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(PING_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PING_TIMEOUT_MS} ms`);
  });
  // The loser of the race must not become an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
