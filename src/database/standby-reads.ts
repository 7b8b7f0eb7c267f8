import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Connections, Standby } from './types.ts';

/**
 * How many milliseconds the gateway sends no queries to the standby database after this database has failed. During
 * this time, requests do not wait for the standby database.
 */
const retryAfterMs = 5_000;

/**
 * While a query runs on the standby database, the gateway checks at this interval (in milliseconds) whether this
 * database still answers. A query may run for 30 s. If the standby database no longer answers, a request must not wait
 * for the whole 30 s.
 */
const probeIntervalMs = 1_000;

/**
 * Reads data from the standby database, whose data may be some seconds old. If there is no standby database, or the
 * standby fails, the function reads from the primary database over the connections in `primary`.
 */
export type HistoryReads = <Result>(
  read: (connections: Connections) => Promise<Result>,
  primary: Connections,
) => Promise<Result>;

/** Creates a function that reads from the standby database, or from the primary database while the standby fails. */
export function createHistoryReads(standby: Standby | undefined, log: Logger): HistoryReads {
  if (!standby) return (read, primary) => read(primary);
  let retryAt = 0;
  let isFailing = false;
  return async (read, primary) => {
    if (performance.now() < retryAt) return read(primary);
    try {
      const result = await whileItAnswers(standby, read(standby));
      if (isFailing) log.info('the standby at DATABASE_READ_URL answers again');
      isFailing = false;
      return result;
    } catch (error) {
      retryAt = performance.now() + retryAfterMs;
      if (!isFailing)
        log.warn({ err: error }, 'the standby at DATABASE_READ_URL fails; reads use the primary');
      isFailing = true;
      return read(primary);
    }
  };
}

/**
 * Waits until a query that runs on the standby database has ended.
 *
 * @throws when the query fails, or when the standby database does not answer a probe while the query runs
 */
async function whileItAnswers<Result>(standby: Standby, reading: Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const silence = async (): Promise<never> => {
    for (;;) {
      await sleep(probeIntervalMs, undefined, { signal: ended.signal });
      await standby.probe();
    }
  };
  try {
    return await Promise.race([reading, silence()]);
  } finally {
    ended.abort();
  }
}
