import type { PrismaClient } from '../prisma/generated/client/client.ts';
import type { Author } from './audit.ts';
import type { Sql, Statement } from './db.ts';
import { locationNotFound } from './errors.ts';
import { newId } from './ids.ts';
import { lockedLocation, lockLocation } from './location-lock.ts';
import { scopeValues } from './scope.ts';
import { auditColumns, iso, type WhitelistEntryValues } from './whitelist-writes.ts';

/** How rows meet the entries that a location has. */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** What a merge did. */
export interface MergeResult {
  /** For each row, in their order, whether it is a new entry. */
  isNew: boolean[];
  /** How many rows changed an entry. */
  updated: number;
  /** How many entries REPLACE removed. */
  deleted: number;
}

/** Waits for changes of single entries that are under way, and keeps others out. */
const holdEntries = `
  SELECT count(*)::int FROM (SELECT FROM "WhitelistEntry" WHERE "locationId" = $1 ORDER BY id FOR UPDATE) held`;

/** What CREATE does about a plate that is there, and what the other modes do. */
const leaveIt = 'DO NOTHING';
const replaceIt = `
  DO UPDATE SET "referenceId" = excluded."referenceId", "vehicleType" = excluded."vehicleType",
    note = excluded.note, "validFrom" = excluded."validFrom", "validUntil" = excluded."validUntil",
    "updatedAt" = now()
  WHERE (w."referenceId", w."vehicleType", w.note, w."validFrom", w."validUntil") IS DISTINCT FROM
    (excluded."referenceId", excluded."vehicleType", excluded.note, excluded."validFrom", excluded."validUntil")`;

/**
 * The whole merge of one batch with its audit record. The unique plate decides what is there, not a look
 * before. It has no join of two long sides: a prepared plan expects ten rows, and a nested loop over 10,000
 * would take minutes. `IN` without outer references is hashed under any plan.
 *
 * It holds the location: merges would otherwise wait for each other's plates in any order.
 */
const mergeStatement = (mode: MergeMode): Statement => ({
  name: `whitelist-merge ${mode}`,
  text: `
    WITH reached AS (${lockedLocation}),
    input AS (
      SELECT * FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
        $12::timestamptz[], $13::timestamptz[]) AS i("newId", "referenceId", "plateType", "plateCode",
        "plateNumber", "vehicleType", note, "validFrom", "validUntil")
    ), written AS (
      INSERT INTO "WhitelistEntry" AS w (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
        "vehicleType", note, "validFrom", "validUntil")
      SELECT i."newId", reached.id, i."referenceId", i."plateType", i."plateCode", i."plateNumber",
        i."vehicleType", i.note, i."validFrom", i."validUntil"
      FROM reached, input i
      ON CONFLICT ("locationId", "plateType", "plateCode", "plateNumber") ${mode === 'CREATE' ? leaveIt : replaceIt}
      RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"
    ), deleted AS (
      DELETE FROM "WhitelistEntry" w USING reached
      WHERE $14::text = 'REPLACE' AND w."locationId" = reached.id AND (w."plateType", w."plateCode", w."plateNumber")
        NOT IN (SELECT "plateType", "plateCode", "plateNumber" FROM input)
      RETURNING w.id
    ), changes AS (
      SELECT jsonb_agg(id) FILTER (WHERE "isNew") AS created, jsonb_agg(id) FILTER (WHERE NOT "isNew") AS updated,
        (SELECT jsonb_agg(id) FROM deleted) AS deleted
      FROM written
    ), audited AS (
      INSERT INTO ${auditColumns}
      SELECT $15, $16, $17, 'whitelist.imported', reached."companyId", reached.id, reached.id,
        jsonb_strip_nulls(jsonb_build_object('mode', $14::text, 'created', created, 'updated', updated, 'deleted', deleted))
      FROM reached, changes WHERE coalesce(created, updated, deleted) IS NOT NULL
    )
    SELECT coalesce(created, '[]') AS created, coalesce(jsonb_array_length(updated), 0) AS updated,
      coalesce(jsonb_array_length(deleted), 0) AS deleted
    FROM reached, changes`,
});

const mergeStatements: Record<MergeMode, Statement> = {
  CREATE: mergeStatement('CREATE'),
  UPSERT: mergeStatement('UPSERT'),
  REPLACE: mergeStatement('REPLACE'),
};

interface Merged {
  created: string[];
  updated: number;
  deleted: number;
}

/** Ends a dry run: what it did is rolled back. */
class DryRunOver extends Error {
  readonly merged: Merged[];

  constructor(merged: Merged[]) {
    super('A dry run changes nothing');
    this.merged = merged;
  }
}

const turns = new Map<string, Promise<unknown>>();

/** Runs the merges of one location in turn, so that those that wait hold no connection to the database. */
async function inTurn<Result>(locationId: string, work: () => Promise<Result>): Promise<Result> {
  const before = turns.get(locationId) ?? Promise.resolve();
  const turn = before.then(work, work);
  turns.set(locationId, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(locationId) === turn) turns.delete(locationId);
  }
}

/**
 * Merges a batch of rows into the whitelist of a location, in one transaction with its audit record; a batch
 * that changes nothing leaves none. No two rows may have the same plate.
 *
 * CREATE and UPSERT are one statement. REPLACE must see all that went before it, so it waits for that in
 * statements of its own.
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
  const statement = mergeStatements[mode];
  const newIds = entries.map(() => newId());
  const values = [
    locationId,
    ...scopeValues(author.key),
    newIds,
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
  const mergeInTransaction = () =>
    prisma
      .$transaction(async (transaction) => {
        if (mode === 'REPLACE') {
          await lockLocation(transaction, locationId, author.key);
          await transaction.$queryRawUnsafe(holdEntries, locationId);
        }
        const merged = await transaction.$queryRawUnsafe<Merged[]>(statement.text, ...values);
        if (dryRun) throw new DryRunOver(merged);
        return merged;
      })
      .catch((error: unknown) => {
        if (error instanceof DryRunOver) return error.merged;
        throw error;
      });
  const [merged] = await inTurn(locationId, () =>
    dryRun || mode === 'REPLACE' ? mergeInTransaction() : sql.query<Merged>(statement, values),
  );
  if (!merged) throw locationNotFound(locationId);
  const created = new Set(merged.created);
  return {
    isNew: newIds.map((id) => created.has(id)),
    updated: merged.updated,
    deleted: merged.deleted,
  };
}
