import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import { auditParameters, insertAuditRecord } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { scopeParameters } from '../auth/scope.ts';
import { namedStatement, type NamedStatement, queryInTransaction } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { locationNotFound } from '../errors/error-table.ts';
import { newId } from '../ids.ts';
import { lockedLocation, lockLocation } from '../locations/lock.ts';
import type { Turns } from '../locations/turns.ts';
import {
  isMergeChange,
  keepArrayParameters,
  keepColumnList,
  mergedAssignments,
  plateColumnList,
  valueArrayParameters,
  valueArrays,
  valueColumnList,
  valueColumnsOf,
  type WhitelistEntryValues,
} from './columns.ts';

/** What an import does with rows whose plate the location has, and with entries that no row has. */
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

/** Locks the entries of a location: waits for changes of single ones that are under way, and lets no other begin. */
const lockEntries = namedStatement(
  'whitelist-lock',
  `SELECT count(*)::int FROM (
    SELECT FROM "WhitelistEntry" WHERE "locationId" = $locationId ORDER BY id FOR UPDATE
  ) locked`,
);

/** What CREATE does with a row whose plate the location has, and what the other modes do. */
const skipExisting = 'DO NOTHING';
const replaceExisting = `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`;

/**
 * The whole merge of one batch with its audit record. The unique constraint decides which plates the location has;
 * nothing is read before. No two long tables are joined: a prepared plan expects ten rows, and a nested loop over
 * 10,000 would take minutes. `IN` without outer references is hashed under any plan.
 *
 * It locks the location: merges that lock the same plates in different orders would otherwise be a deadlock.
 */
const mergeStatement = (mode: MergeMode) =>
  namedStatement(
    `whitelist-merge ${mode}`,
    `
    WITH reached AS (${lockedLocation}),
    input AS (
      SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
        AS i("newId", ${valueColumnList}, ${keepColumnList})
    ), written AS (
      INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
      SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
      ON CONFLICT ("locationId", ${plateColumnList()}) ${mode === 'CREATE' ? skipExisting : replaceExisting}
      RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"
    ), deleted AS (
      DELETE FROM "WhitelistEntry" w USING reached
      WHERE $mode::text = 'REPLACE' AND w."locationId" = reached.id
        AND (${plateColumnList('w')}) NOT IN (SELECT ${plateColumnList()} FROM input)
      RETURNING w.id
    ), changes AS (
      SELECT jsonb_agg(id) FILTER (WHERE "isNew") AS created, jsonb_agg(id) FILTER (WHERE NOT "isNew") AS updated,
        (SELECT jsonb_agg(id) FROM deleted) AS deleted
      FROM written
    ), audited AS (
      ${insertAuditRecord('whitelist.imported', {
        location: 'reached',
        targetId: 'reached.id',
        changes: `jsonb_strip_nulls(jsonb_build_object(
          'mode', $mode::text, 'created', created, 'updated', updated, 'deleted', deleted))`,
      })}
      FROM reached, changes WHERE coalesce(created, updated, deleted) IS NOT NULL
    )
    SELECT coalesce(created, '[]') AS created, coalesce(jsonb_array_length(updated), 0) AS updated,
      coalesce(jsonb_array_length(deleted), 0) AS deleted
    FROM reached, changes`,
  );

const mergeStatements: Record<MergeMode, NamedStatement> = {
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

/** Prepares the merge of batches. */
export function createWhitelistMerge(services: { prisma: PrismaClient; sql: Sql; locationTurns: Turns }) {
  const { prisma, sql, locationTurns } = services;
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
  return async function merge(
    author: Author,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
    { mode, dryRun }: { mode: MergeMode; dryRun: boolean },
  ): Promise<MergeResult> {
    const statement = mergeStatements[mode];
    const newIds = entries.map(() => newId());
    const parameters = {
      locationId,
      newIds,
      mode,
      ...valueArrays(entries),
      ...scopeParameters(author.key),
      ...auditParameters(author),
    };
    const mergeInTransaction = () =>
      prisma
        .$transaction(async (transaction) => {
          if (mode === 'REPLACE') {
            await lockLocation(transaction, locationId, author.key);
            await queryInTransaction(transaction, lockEntries, parameters);
          }
          const merged = await queryInTransaction<Merged>(transaction, statement, parameters);
          if (dryRun) throw new DryRunOver(merged);
          return merged;
        })
        .catch((error: unknown) => {
          if (error instanceof DryRunOver) return error.merged;
          throw error;
        });
    const mergeInStatement = () => sql.query<Merged>(statement, statement.values(parameters));
    const [merged] = await locationTurns.run(
      locationId,
      dryRun || mode === 'REPLACE' ? mergeInTransaction : mergeInStatement,
      { mayRefuse: false }, // The import has begun: its other batches may be committed.
    );
    if (!merged) throw locationNotFound(locationId);
    const created = new Set(merged.created);
    return {
      isNew: newIds.map((id) => created.has(id)),
      updated: merged.updated,
      deleted: merged.deleted,
    };
  };
}
