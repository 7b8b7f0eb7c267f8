import type { PGlite } from '@electric-sql/pglite';

/** The time between two checks of the size of the write-ahead log, in milliseconds. */
const checkIntervalMs = 30_000;

/**
 * The number of bytes by which the write-ahead log grows before the gateway runs the next checkpoint. After a crash,
 * the embedded database replays the part of the write-ahead log that was written after the last checkpoint.
 * `maxLogBytes` is also the approximate maximum number of bytes that the embedded database replays. A checkpoint blocks
 * the process for about 30 ms.
 */
const maxLogBytes = 64 * 1024 * 1024;

/**
 * The start parameter of the embedded database that turns off automatic checkpoints. PostgreSQL starts a checkpoint
 * when the write-ahead log has reached about half of `max_wal_size`. A PostgreSQL server runs each checkpoint in a
 * separate process, but PGlite has only one process. In PGlite, an automatic checkpoint in the middle of a write would
 * therefore wait forever for a lock that the write holds.
 */
export const noOwnCheckpoints = ['-c', 'max_wal_size=1TB'];

const bytesSinceCheckpoint = `
  SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Starts a timer that checks the size of the write-ahead log. When the write-ahead log has grown by `maxLogBytes`, a
 * `CHECKPOINT` writes the changes of the embedded database to its data files. After a checkpoint, PostgreSQL can reuse
 * the files of the write-ahead log.
 *
 * @returns a function that stops the timer, and waits for a check that is still running
 */
export function startCheckpoints(client: Pick<PGlite, 'query' | 'exec'>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();

  async function check(): Promise<void> {
    const { rows } = await client.query<{ bytes: number }>(bytesSinceCheckpoint);
    if (rows[0]!.bytes >= maxLogBytes) await client.exec('CHECKPOINT');
  }

  const timer = setInterval(() => {
    // An error of `check` is ignored, because the timer calls `check` again after `checkIntervalMs`.
    running = check().catch(() => undefined);
  }, checkIntervalMs).unref();

  return async () => {
    clearInterval(timer);
    await running;
  };
}
