import type { PGlite } from '@electric-sql/pglite';

/** How often the size of the write-ahead log is checked, in milliseconds. */
const checkIntervalMs = 30_000;

/**
 * The size of the write-ahead log since the last checkpoint, in bytes, from which on a checkpoint runs. A start after a
 * crash replays the log since then. A checkpoint blocks the process for about 30 ms.
 */
const maxLogBytes = 64 * 1024 * 1024;

/**
 * The start parameter that keeps PostgreSQL from starting a checkpoint itself. PostgreSQL starts one when the log since
 * the last checkpoint reaches about half of `max_wal_size`. In a server, the checkpointer process runs it. PGlite has a
 * single process, which would run it in the middle of the write that reached the limit, and would wait forever for a
 * lock that this write holds.
 */
export const noOwnCheckpoints = ['-c', 'max_wal_size=1TB'];

const bytesSinceCheckpoint = `
  SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Writes the changes of the embedded database to its data files from time to time, so that PostgreSQL can reuse the
 * files of the write-ahead log (`CHECKPOINT`).
 *
 * @returns a function that stops the checks, and waits for a check that is running
 */
export function startCheckpoints(client: Pick<PGlite, 'query' | 'exec'>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();

  async function check(): Promise<void> {
    const { rows } = await client.query<{ bytes: number }>(bytesSinceCheckpoint);
    if (rows[0]!.bytes >= maxLogBytes) await client.exec('CHECKPOINT');
  }

  const timer = setInterval(() => {
    // After a failure, the next check tries again.
    running = check().catch(() => undefined);
  }, checkIntervalMs).unref();

  return async () => {
    clearInterval(timer);
    await running;
  };
}
