import type { PGlite } from '@electric-sql/pglite';

/**
 * The time between two maintenance runs of the embedded database, in milliseconds. PostgreSQL uses a stored query plan
 * for at most `maintenanceIntervalMs`.
 */
const maintenanceIntervalMs = 30_000;

/**
 * The number of bytes by which the write-ahead log grows before the gateway runs the next checkpoint. After a crash,
 * the embedded database replays the part of the write-ahead log that was written after the last checkpoint. After a
 * crash, the embedded database therefore replays at most about `maxLogBytes` bytes of the write-ahead log. A checkpoint
 * blocks the process for about 30 ms.
 */
const maxLogBytes = 64 * 1024 * 1024;

/**
 * The start parameter of the embedded database that turns off automatic checkpoints. PostgreSQL starts a checkpoint
 * when the write-ahead log has reached about half of `max_wal_size`. A PostgreSQL server runs each checkpoint in a
 * separate process, but PGlite has only one process. If a checkpoint started in the middle of a write in PGlite, it
 * would therefore wait forever for a lock of this write.
 */
export const noOwnCheckpoints = ['-c', 'max_wal_size=1TB'];

const bytesSinceCheckpoint = `
  SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Makes PostgreSQL plan each statement again at its next execution. PostgreSQL stores the query plan of a statement
 * that was executed several times. On a PostgreSQL server, autovacuum causes new query plans after large changes of a
 * table, but PGlite has no autovacuum. A stored query plan that suits an empty whitelist is slow when the whitelist has
 * 10,000 entries.
 */
export const discardPlans = (client: Pick<PGlite, 'exec'>) => client.exec('DISCARD PLANS');

/**
 * Starts a timer for the maintenance of the embedded database. On a PostgreSQL server, separate processes do this
 * maintenance. Every 30 s, the gateway discards the stored query plans. The gateway also runs a `CHECKPOINT` when the
 * write-ahead log has grown by `maxLogBytes`. A checkpoint writes the changes of the embedded database to its data
 * files. After a checkpoint, PostgreSQL can reuse the files of the write-ahead log.
 *
 * @returns a function that stops the timer, and waits for maintenance that is still running
 */
export function startMaintenance(client: Pick<PGlite, 'query' | 'exec'>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();

  async function maintain(): Promise<void> {
    await discardPlans(client);
    const { rows } = await client.query<{ bytes: number }>(bytesSinceCheckpoint);
    if (rows[0]!.bytes >= maxLogBytes) await client.exec('CHECKPOINT');
  }

  const timer = setInterval(() => {
    // The timer ignores an error of `maintain`, because it calls `maintain` again after `maintenanceIntervalMs`.
    running = maintain().catch(() => undefined);
  }, maintenanceIntervalMs).unref();

  return async () => {
    clearInterval(timer);
    await running;
  };
}
