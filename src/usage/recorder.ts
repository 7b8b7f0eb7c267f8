import type { Logger } from 'pino';
import type { UsageRecord } from '../../prisma/generated/client/client.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { newId } from '../ids.ts';

/** One request, for the record (decisions, "all use is logged"). */
export type Usage = Omit<UsageRecord, 'id'>;

/** Keeps a record of every request. */
export interface UsageRecorder {
  /** Notes a request; written with others within a second. */
  record(usage: Usage): void;
  /** Writes what is noted. */
  flush(): Promise<void>;
  /** Writes what is noted and stops. */
  close(): Promise<void>;
}

/** How long records wait for each other, in milliseconds. */
const writeIntervalMs = 1000;
/** How many one statement takes: to put thousands into words would hold requests up. */
const maxRecordsPerStatement = 500;
/** How many records are kept while the database is away; then the oldest go, and the log says how many. */
const maxKeptRecords = 100_000;

/**
 * Writes a batch, unless the batch of this number was written: its answer may have been lost, and it was sent again.
 * Two runs of one recorder wait for each other at its row. A trigger counts the records (`UsageTotal`). Keys are
 * locked in one order, so that two processes never wait for each other.
 */
const insertUsage = namedStatement(
  'usage-insert',
  `
    WITH batch AS (
      INSERT INTO "UsageRecorder" AS r (id, "lastBatch") VALUES ($recorderId, $batch)
      ON CONFLICT (id) DO UPDATE SET "lastBatch" = excluded."lastBatch", "writtenAt" = excluded."writtenAt"
        WHERE r."lastBatch" < excluded."lastBatch"
      RETURNING id
    ),
    locked AS MATERIALIZED (
      SELECT k.id FROM "ApiKey" k
      WHERE k.id = ANY($apiKeyId::text[]) AND EXISTS (SELECT FROM batch) ORDER BY k.id FOR NO KEY UPDATE
    ),
    inserted AS (
      INSERT INTO "UsageRecord"
        ("apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
      SELECT u.* FROM unnest($apiKeyId::text[], $requestId::text[], $surface::text[], $operation::text[],
        $status::int[], $errorCode::text[], $durationMs::float8[], $address::text[], $createdAt::timestamptz[]) AS u
      WHERE EXISTS (SELECT FROM batch)
      RETURNING "apiKeyId", "createdAt"
    )
    UPDATE "ApiKey" k SET "lastUsedAt" = greatest(k."lastUsedAt", used.at)
    FROM locked JOIN (SELECT "apiKeyId", max("createdAt") AS at FROM inserted GROUP BY 1) AS used
      ON used."apiKeyId" = locked.id
    WHERE k.id = locked.id`,
);

/** Creates the recorder of one process. Requests never wait for it. */
export function createUsageRecorder({ sql, log }: { sql: Sql; log: Logger }): UsageRecorder {
  const recorderId = newId();
  let waiting: Usage[] = [];
  /** How many of the first ones were sent as the batch under way, and may have been written although it failed. */
  let sent = 0;
  let batch = 0;
  let lost = 0;
  let writing: Promise<void> | undefined;

  async function insert(records: readonly Usage[]): Promise<void> {
    const column = (name: keyof Usage) => records.map((record) => record[name]);
    const values = insertUsage.values({
      recorderId,
      batch,
      apiKeyId: column('apiKeyId'),
      requestId: column('requestId'),
      surface: column('surface'),
      operation: column('operation'),
      status: column('status'),
      errorCode: column('errorCode'),
      durationMs: column('durationMs'),
      address: column('address'),
      createdAt: column('createdAt'),
    });
    await sql.query(insertUsage, values);
    if (lost > 0) log.error({ lost }, 'usage records were lost while the database was away');
    lost = 0;
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      if (sent === 0) {
        sent = Math.min(waiting.length, maxRecordsPerStatement);
        batch += 1;
      }
      try {
        await insert(waiting.slice(0, sent));
      } catch (error) {
        const surplus = Math.max(0, waiting.length - maxKeptRecords);
        drop(surplus);
        lost += surplus;
        log.warn({ err: error, waiting: waiting.length }, 'usage records could not be written and wait');
        return;
      }
      drop(sent);
    }
  }

  /** Forgets the oldest records. A batch under way may become smaller, never larger. */
  function drop(count: number): void {
    waiting = waiting.slice(count);
    sent = Math.max(0, sent - count);
  }

  function flush(): Promise<void> {
    if (writing) return writing.then(flush);
    if (waiting.length === 0) return Promise.resolve();
    writing = write().finally(() => (writing = undefined));
    return writing;
  }

  const timer = setInterval(() => void (writing ?? flush()), writeIntervalMs);
  timer.unref();

  return {
    record(usage) {
      waiting.push(usage);
      // Only once: while the database is away, the timer tries.
      if (waiting.length === maxRecordsPerStatement) void (writing ?? flush());
    },
    flush,
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}
