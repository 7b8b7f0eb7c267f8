import type { Logger } from 'pino';
import type { UsageRecord } from '../../prisma/generated/client/client.ts';
import type { Sql, Statement } from '../database/types.ts';

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

const insertUsage: Statement = {
  name: 'usage-insert',
  text: `
    WITH inserted AS (
      INSERT INTO "UsageRecord"
        ("apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::float8[],
        $8::text[], $9::timestamptz[])
      RETURNING "apiKeyId", "createdAt"
    )
    UPDATE "ApiKey" k SET "lastUsedAt" = used.at
    FROM (SELECT "apiKeyId", max("createdAt") AS at FROM inserted GROUP BY 1) AS used
    WHERE k.id = used."apiKeyId"`,
};

/** Creates the recorder of one process. Requests never wait for it. */
export function createUsageRecorder({ sql, log }: { sql: Sql; log: Logger }): UsageRecorder {
  let waiting: Usage[] = [];
  let lost = 0;
  let writing: Promise<void> | undefined;

  async function insert(records: Usage[]): Promise<void> {
    await sql.query(insertUsage, [
      records.map((record) => record.apiKeyId),
      records.map((record) => record.requestId),
      records.map((record) => record.surface),
      records.map((record) => record.operation),
      records.map((record) => record.status),
      records.map((record) => record.errorCode),
      records.map((record) => record.durationMs),
      records.map((record) => record.address),
      records.map((record) => record.createdAt.toISOString()),
    ]);
    if (lost > 0) log.error({ lost }, 'usage records were lost while the database was away');
    lost = 0;
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const records = waiting.splice(0, maxRecordsPerStatement);
      try {
        await insert(records);
      } catch (error) {
        const kept = [...records, ...waiting];
        waiting = kept.slice(-maxKeptRecords);
        lost += kept.length - waiting.length;
        log.warn({ err: error, waiting: waiting.length }, 'usage records could not be written and wait');
        return;
      }
    }
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
