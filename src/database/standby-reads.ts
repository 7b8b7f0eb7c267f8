import type { Logger } from 'pino';
import type { Connections } from './types.ts';

/** The pause after a failure of the standby, in milliseconds. Without it, each request would wait for the standby. */
const retryAfterMs = 5_000;

/**
 * Reads historical data, which may be some seconds behind. It reads from the standby. If there is no standby, or the
 * standby fails, it reads from the given connections to the primary.
 */
export type HistoryReads = <Result>(
  read: (connections: Connections) => Promise<Result>,
  primary: Connections,
) => Promise<Result>;

/** Creates the reads of historical data for one process. A failure of the standby never fails a read. */
export function createHistoryReads(standby: Connections | undefined, log: Logger): HistoryReads {
  if (!standby) return (read, primary) => read(primary);
  let retryAt = 0;
  let isFailing = false;
  return async (read, primary) => {
    if (performance.now() < retryAt) return read(primary);
    try {
      const result = await read(standby);
      if (isFailing) log.info('the standby at DATABASE_READ_URL answers again');
      isFailing = false;
      return result;
    } catch (error) {
      retryAt = performance.now() + retryAfterMs;
      if (!isFailing) log.warn({ err: error }, 'the standby at DATABASE_READ_URL fails: the primary is read');
      isFailing = true;
      return read(primary);
    }
  };
}
