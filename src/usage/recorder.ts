import type { Logger } from 'pino';
import type { UsageRecord } from '../../prisma/generated/client/client.ts';
import { namedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { isRefusedValue } from '../database/violations.ts';
import { newId } from '../ids.ts';

/** The usage record of one request (docs/contract.md#all-use-is-logged). */
export type Usage = Omit<UsageRecord, 'id'>;

/** Writes a usage record for every request. */
export interface UsageRecorder {
  /**
   * Adds the usage record of a request. The recorder writes the record within a second, together with other records.
   */
  record(usage: Usage): void;
  /** Writes the usage records that are not written yet. */
  flush(): Promise<void>;
  /** Writes the usage records that are not written yet, and stops the recorder. */
  close(): Promise<void>;
}

/** How often the recorder writes the collected usage records, in milliseconds. */
const writeIntervalMs = 1000;
/**
 * The maximum number of usage records in one SQL statement. Encoding thousands of records in one step would delay
 * requests.
 */
const maxRecordsPerStatement = 500;
/**
 * The maximum number of usage records that the process keeps in memory while the database is unreachable. If there are
 * more records, the oldest records are dropped, and the log says how many.
 */
const maxKeptRecords = 100_000;

/**
 * Writes a batch of usage records, unless a batch with the same number was already written. The recorder sends a batch
 * again when it got no answer from the database. Concurrent runs of the statement for one recorder wait for each other,
 * because each run locks the row of the recorder. A trigger updates the totals (`UsageTotal`). It always locks the rows
 * of the totals in the same order, so that processes cannot deadlock.
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

/** Creates the object that records the usage in one process. Requests never wait for it. */
export function createUsageRecorder({ sql, log }: { sql: Sql; log: Logger }): UsageRecorder {
  const recorderId = newId();
  let waiting: Usage[] = [];
  /**
   * The number of records at the start of the list that belong to the current batch. The database may have written the
   * batch even if the call failed.
   */
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
    if (lost > 0)
      log.error({ lost }, 'usage records were lost because the database was unreachable for too long');
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
        if (isRefusedValue(error)) {
          isolateRejectedRecord(error);
          continue;
        }
        const surplus = Math.max(0, waiting.length - maxKeptRecords);
        drop(surplus);
        lost += surplus;
        log.warn({ err: error, waiting: waiting.length }, 'usage records could not be written; retrying');
        return;
      }
      drop(sent);
    }
  }

  /** Halves the batch after the database has rejected it. A single record that the database rejects is dropped. */
  function isolateRejectedRecord(error: unknown): void {
    if (sent > 1) {
      sent = Math.ceil(sent / 2);
      return;
    }
    const [refused] = waiting;
    log.error(
      { err: error, requestId: refused!.requestId },
      'the database rejected a usage record; the record is lost',
    );
    drop(1);
  }

  /** Drops the oldest records. This can make the current batch smaller, but never larger. */
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
      // A write starts here only when the list reaches the size of a full batch for the first time. While the database
      // is unreachable, the timer retries the write.
      if (waiting.length === maxRecordsPerStatement) void (writing ?? flush());
    },
    flush,
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}
