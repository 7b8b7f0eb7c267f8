import type { Logger } from 'pino';
import type { UsageRecord } from '../../prisma/generated/client/client.ts';
import type { Sql } from '../database/types.ts';
import { isRefusedValue } from '../database/violations.ts';
import { newId } from '../ids.ts';
import { insertUsage } from './statements.ts';

/** The usage record of one request (docs/contract-keys.md#all-use-is-logged). */
export type Usage = Omit<UsageRecord, 'id'>;

/** Writes a usage record for every request. */
export interface UsageRecorder {
  /**
   * Adds the usage record of a request to the records that wait to be written. The recorder writes the usage record to
   * the database within a second, together with other usage records.
   */
  record(usage: Usage): void;
  /** Writes the waiting usage records to the database. */
  flush(): Promise<void>;
  /** Writes the waiting usage records to the database, and stops the recorder. */
  close(): Promise<void>;
}

/** The interval at which the recorder writes the collected usage records, in milliseconds. */
const writeIntervalMs = 1000;
/**
 * The maximum number of usage records in one SQL statement. Encoding thousands of usage records in one step would delay
 * requests.
 */
const maxRecordsPerStatement = 500;
/**
 * The maximum number of usage records that the process keeps in memory while the database is unreachable. If more usage
 * records than this maximum are waiting, the recorder drops the oldest records, and logs the number of dropped records.
 */
const maxKeptRecords = 100_000;

/** Creates the usage recorder of a process. A request never waits until its usage is recorded. */
export function createUsageRecorder({ sql, log }: { sql: Sql; log: Logger }): UsageRecorder {
  const recorderId = newId();
  let waiting: Usage[] = [];
  /**
   * The number of usage records in the batch that the recorder is sending to the database. The batch consists of the
   * first usage records in the list `waiting`. PostgreSQL may have stored the batch although the recorder received an
   * error, for example when the connection breaks. After an error, the recorder therefore sends the same batch again,
   * and PostgreSQL detects a repeated batch.
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

  /**
   * Halves the size of the next batch of usage records, because the database has rejected the current batch. If the
   * database rejected a batch with only one usage record, the function drops this usage record.
   */
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

  /**
   * Drops the oldest usage records from the list `waiting`. If `drop` removes usage records of the current batch, the
   * batch becomes shorter. The recorder never adds other usage records to a batch that it has already sent.
   */
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
      // When the list of waiting usage records reaches the size of a full batch, the recorder writes the batch
      // immediately. If the list of waiting usage records is longer than one batch, the database is probably
      // unreachable. While the list of waiting usage records is longer than one batch, the recorder tries to write the
      // list only at regular intervals.
      if (waiting.length === maxRecordsPerStatement) void (writing ?? flush());
    },
    flush,
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}
