import type { PGlite } from '@electric-sql/pglite';

/** How often the size of the write-ahead log is checked, in milliseconds. */
const checkIntervalMs = 30_000;

/**
 * How many bytes the write-ahead log may grow after a checkpoint before the next checkpoint runs. A start after a crash
 * replays these bytes. A checkpoint blocks the process for about 30 ms.
 */
const maxLogBytes = 64 * 1024 * 1024;

/**
 * The start parameter that prevents PostgreSQL from starting checkpoints itself. PostgreSQL starts a checkpoint when
 * the log has reached about half of `max_wal_size`, and a server runs it in a separate process. PGlite has only one
 * process and would run the checkpoint in the middle of a write. The checkpoint would then wait forever for a lock that
 * the write holds.
 */
export const noOwnCheckpoints = ['-c', 'max_wal_size=1TB'];

const bytesSinceCheckpoint = `
  SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Regularly writes the changes of the embedded database to its data files (`CHECKPOINT`), so that PostgreSQL can reuse
 * the files of the write-ahead log.
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
    // If this check fails, the next check tries again.
    running = check().catch(() => undefined);
  }, checkIntervalMs).unref();

  return async () => {
    clearInterval(timer);
    await running;
  };
}
