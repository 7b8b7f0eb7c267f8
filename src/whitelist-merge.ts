import type { PrismaClient, WhitelistEntry } from '../prisma/generated/client/client.ts';
import type { Sql, Statement } from './db.ts';
import { newId } from './ids.ts';
import { locationNotFound } from './errors.ts';
import { scopeValues } from './scope.ts';
import {
  auditColumns,
  type Author,
  entryColumns,
  iso,
  reachedLocation,
  type WhitelistEntryValues,
} from './whitelist-store.ts';

/** How rows meet the entries that a location has. */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** What became of a row: `UNCHANGED` also stands for an entry that CREATE leaves as it is. */
export interface MergedRow {
  outcome: 'CREATED' | 'UPDATED' | 'UNCHANGED';
  /** The entry that was there before, if there was one. */
  existing: WhitelistEntry | null;
}

/** What a merge did. */
export interface MergeResult {
  /** One for each row, in their order. */
  rows: MergedRow[];
  /** How many entries REPLACE removed. */
  deleted: number;
}

/**
 * The whole merge of one batch: what is there, what changes, what is new, what goes, and the audit record.
 * Every part sees the state before the statement.
 */
const mergeEntries: Statement = {
  name: 'whitelist-merge',
  text: `
    WITH ${reachedLocation('$1', '$2', '$3', '$4')},
    input AS (
      SELECT * FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
        $12::timestamptz[], $13::timestamptz[]) WITH ORDINALITY AS i("newId", "referenceId", "plateType",
        "plateCode", "plateNumber", "vehicleType", note, "validFrom", "validUntil", n)
    ), existing AS (
      SELECT w.*, i.n FROM reached
      JOIN "WhitelistEntry" w ON w."locationId" = reached.id
      JOIN input i USING ("plateType", "plateCode", "plateNumber")
    ), inserted AS (
      INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
        "vehicleType", note, "validFrom", "validUntil")
      SELECT i."newId", reached.id, i."referenceId", i."plateType", i."plateCode", i."plateNumber",
        i."vehicleType", i.note, i."validFrom", i."validUntil"
      FROM reached, input i WHERE NOT EXISTS (SELECT FROM existing e WHERE e.n = i.n)
      ON CONFLICT ("locationId", "plateType", "plateCode", "plateNumber") DO NOTHING
      RETURNING id
    ), updated AS (
      UPDATE "WhitelistEntry" w SET "referenceId" = i."referenceId", "vehicleType" = i."vehicleType",
        note = i.note, "validFrom" = i."validFrom", "validUntil" = i."validUntil", "updatedAt" = now()
      FROM existing e JOIN input i ON i.n = e.n
      WHERE $14::text <> 'CREATE' AND w.id = e.id
        AND (w."referenceId", w."vehicleType", w.note, w."validFrom", w."validUntil")
          IS DISTINCT FROM (i."referenceId", i."vehicleType", i.note, i."validFrom", i."validUntil")
      RETURNING w.id
    ), deleted AS (
      DELETE FROM "WhitelistEntry" w USING reached
      WHERE $14::text = 'REPLACE' AND w."locationId" = reached.id
        AND NOT EXISTS (SELECT FROM existing e WHERE e.id = w.id)
      RETURNING w.id
    ), changes AS (
      SELECT (SELECT jsonb_agg(id) FROM inserted) AS created, (SELECT jsonb_agg(id) FROM updated) AS updated,
        (SELECT jsonb_agg(id) FROM deleted) AS deleted
    ), audited AS (
      INSERT INTO ${auditColumns}
      SELECT $15, $16, $17, 'whitelist.imported', reached."companyId", reached.id, reached.id,
        jsonb_strip_nulls(jsonb_build_object('mode', $14::text, 'created', created, 'updated', updated, 'deleted', deleted))
      FROM reached, changes WHERE coalesce(created, updated, deleted) IS NOT NULL
    )
    SELECT i.n::int, reached.id AS "foundId", ${entryColumns},
      CASE WHEN i.n IS NULL THEN NULL
        WHEN EXISTS (SELECT FROM inserted WHERE inserted.id = i."newId") THEN 'CREATED'
        WHEN EXISTS (SELECT FROM updated WHERE updated.id = e.id) THEN 'UPDATED' ELSE 'UNCHANGED' END AS outcome,
      (SELECT count(*) FROM deleted)::int AS deleted
    FROM reached LEFT JOIN input i ON true LEFT JOIN existing e ON e.n = i.n
    ORDER BY i.n`,
};

const lockLocation = `SELECT id FROM "Location" WHERE id = $1 FOR UPDATE`;

/** How long a batch may take, in milliseconds. */
const longestBatch = 60_000;

type Row = WhitelistEntry & { n: number | null; deleted: number; outcome: MergedRow['outcome'] };

/** Ends a dry run: what it did is rolled back. */
class DryRunOver extends Error {
  readonly rows: Row[];

  constructor(rows: Row[]) {
    super('A dry run changes nothing');
    this.rows = rows;
  }
}

/**
 * Merges a batch of rows into the whitelist of a location, in one transaction with its audit record. No two
 * rows may have the same plate.
 *
 * CREATE is one statement. The other modes take the location's lock first: creates of single entries, which
 * hold a share of it, wait until the batch is done.
 *
 * @param dryRun does the same and takes it back
 * @throws {ServiceError} `NOT_FOUND` for a location out of reach
 */
export async function mergeWhitelist(
  { prisma, sql }: { prisma: PrismaClient; sql: Sql },
  author: Author,
  locationId: string,
  entries: readonly WhitelistEntryValues[],
  { mode, dryRun }: { mode: MergeMode; dryRun: boolean },
): Promise<MergeResult> {
  const values = [
    locationId,
    ...scopeValues(author.key),
    entries.map(() => newId()),
    entries.map((entry) => entry.referenceId),
    entries.map((entry) => entry.plateType),
    entries.map((entry) => entry.plateCode),
    entries.map((entry) => entry.plateNumber),
    entries.map((entry) => entry.vehicleType),
    entries.map((entry) => entry.note),
    entries.map((entry) => iso(entry.validFrom)),
    entries.map((entry) => iso(entry.validUntil)),
    mode,
    newId(),
    author.key.id,
    author.requestId,
  ];
  const rows =
    mode === 'CREATE' && !dryRun
      ? await sql.query<Row>(mergeEntries, values)
      : await prisma
          .$transaction(
            async (transaction) => {
              await transaction.$queryRawUnsafe(lockLocation, locationId);
              const merged = await transaction.$queryRawUnsafe<Row[]>(mergeEntries.text, ...values);
              if (dryRun) throw new DryRunOver(merged);
              return merged;
            },
            { timeout: longestBatch, maxWait: longestBatch },
          )
          .catch((error: unknown) => {
            if (error instanceof DryRunOver) return error.rows;
            throw error;
          });
  if (!rows[0]) throw locationNotFound(locationId);
  return {
    deleted: rows[0].deleted,
    rows: rows
      .filter(({ n }) => n !== null)
      .map((row) => ({ outcome: row.outcome, existing: row.id === null ? null : row })),
  };
}
