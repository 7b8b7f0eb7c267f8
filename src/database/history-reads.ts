import type { Logger } from 'pino';
import type { Connections } from './types.ts';

/** How long a standby that failed is left alone, in milliseconds: each request would wait for it otherwise. */
const leftAloneMs = 5_000;

/**
 * Reads what tells of the past, and may be some seconds old: from the standby, or from the given connections to the
 * primary when there is no standby or it does not answer.
 */
export type HistoryReads = <Result>(
  read: (connections: Connections) => Promise<Result>,
  primary: Connections,
) => Promise<Result>;

/** Makes the reads of a process, which never fail for the sake of the standby. */
export function createHistoryReads(standby: Connections | undefined, log: Logger): HistoryReads {
  if (!standby) return (read, primary) => read(primary);
  let askAgainAt = 0;
  let isAway = false;
  return async (read, primary) => {
    if (performance.now() < askAgainAt) return read(primary);
    try {
      const result = await read(standby);
      if (isAway) log.info('the standby at DATABASE_READ_URL answers again');
      isAway = false;
      return result;
    } catch (error) {
      askAgainAt = performance.now() + leftAloneMs;
      if (!isAway) log.warn({ err: error }, 'the standby at DATABASE_READ_URL fails: the primary is read');
      isAway = true;
      return read(primary);
    }
  };
}
