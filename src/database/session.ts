import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The time limits of a Prisma transaction, in milliseconds. `maxWait` limits the wait for a connection, and `timeout`
 * limits how long the transaction runs. Prisma's default values for `maxWait` (2 s) and `timeout` (5 s) are too short
 * for an import, and for fifty consecutive writes on the embedded database. On a busy machine, writing an occupancy
 * count of 10,000 vehicles to the embedded database can take more than 30 s.
 */
export const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 60_000 };

/**
 * The time in milliseconds after which PostgreSQL ends a statement, so that no statement occupies a connection forever.
 */
export const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * A frozen gateway process can hold locks that other processes need. These PostgreSQL settings (in milliseconds) limit
 * how long the other processes wait. When a process with an open transaction has sent nothing for 5 s, PostgreSQL ends
 * the transaction and releases the locks of the transaction. Other processes wait for a lock for at most 8 s. Other
 * processes can therefore get a lock that a frozen process held, because PostgreSQL releases this lock after 5 s.
 */
export const LOCK_LIMITS_MS = { idle_in_transaction_session_timeout: 5_000, lock_timeout: 8_000 };

/**
 * An SQL statement can combine the changes of several clients. Such a statement waits for a locked row at most
 * `maxJoinedWaitMs` milliseconds. After this time, the gateway runs each change of the SQL statement in a separate
 * statement. When each change has its own statement, the locked row delays only the clients that change this row. If
 * the SQL statement waits for several locked rows, `maxJoinedWaitMs` applies to each locked row separately.
 */
export const maxJoinedWaitMs = 10;

/** The maximum time that the database may need to answer a health probe, in milliseconds. */
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Waits until the database has answered a health probe, but for at most one second.
 *
 * @throws when the probe fails or takes longer than one second
 */
export async function answersInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = new AbortController();
  const late = sleep(PROBE_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PROBE_TIMEOUT_MS} ms`);
  });
  // When one of the two promises has ended the wait, the other promise may still fail. This later failure must not
  // cause an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}
