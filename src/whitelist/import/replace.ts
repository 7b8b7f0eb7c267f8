import type { PrismaClient } from '../../../prisma/generated/client/client.ts';
import { recordChanges } from '../../audit/record.ts';
import type { Author } from '../../auth/key.ts';
import { scopeParameters } from '../../auth/scope.ts';
import { namedStatement, queryInTransaction } from '../../database/named-statement.ts';
import type { Database, Transaction } from '../../database/types.ts';
import { lockedLocation, lockLocation } from '../../location-access/lock.ts';
import type { Slots } from '../../scheduling/slots.ts';
import { plateColumnList, type WhitelistEntryValues } from '../columns.ts';
import { inputParameters, inputRows, type MergeResult, statementParts, writeRows } from './rows.ts';

/**
 * Locks the entries of a location. The statement waits until running changes of single entries have ended, and prevents
 * new changes until the end of the transaction.
 */
const lockEntries = namedStatement(
  'whitelist-lock',
  `SELECT count(*)::int FROM (
    SELECT FROM "WhitelistEntry" WHERE "locationId" = $locationId ORDER BY id FOR UPDATE
  ) locked`,
);

const writeEntries = namedStatement(
  'whitelist-replace-write',
  `
  WITH reached AS (${lockedLocation}),
  input AS (${inputRows}),
  written AS (${writeRows('update')})
  SELECT id, "isNew" FROM written`,
);

/** The number of existing entries that one statement compares with the plates of all imported rows. */
const entriesPerSearch = 5_000;

/**
 * Finds the existing entries whose plates are not in the import, starting after a given id. `NOT IN` with an
 * uncorrelated subquery uses a hash table under any plan.
 */
const findOthers = namedStatement(
  'whitelist-replace-others',
  `
  SELECT w.id FROM "WhitelistEntry" w
  WHERE w."locationId" = $locationId AND w.id > $after AND (${plateColumnList('w')}) NOT IN (
    SELECT ${plateColumnList()}
    FROM unnest($plateType::text[], $plateCode::text[], $plateNumber::text[]) AS i(${plateColumnList()}))
  ORDER BY w.id LIMIT ${entriesPerSearch}`,
);

const removeEntries = namedStatement(
  'whitelist-replace-remove',
  `DELETE FROM "WhitelistEntry" WHERE id = ANY($ids::text[]) RETURNING id`,
);

/** Creates the function that runs a REPLACE import. */
export function createWhitelistReplace(services: {
  prisma: PrismaClient;
  locationSlots: Slots;
  kind: Database['kind'];
}) {
  const { prisma, locationSlots, kind } = services;

  /**
   * Removes the entries whose plates are not in the import.
   *
   * @returns the identifiers of the removed entries
   */
  async function removeOthers(
    transaction: Transaction,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
  ): Promise<string[]> {
    const plates = {
      plateType: entries.map(({ plateType }) => plateType),
      plateCode: entries.map(({ plateCode }) => plateCode),
      plateNumber: entries.map(({ plateNumber }) => plateNumber),
    };
    const removed: string[] = [];
    let after = '';
    for (;;) {
      const parameters = { locationId, after, ...plates };
      const others = await queryInTransaction<{ id: string }>(transaction, findOthers, parameters);
      for (const part of statementParts(others, kind)) {
        const ids = part.map(({ id }) => id);
        const rows = await queryInTransaction<{ id: string }>(transaction, removeEntries, { ids });
        removed.push(...rows.map(({ id }) => id));
      }
      if (others.length < entriesPerSearch) return removed;
      after = others.at(-1)!.id;
    }
  }

  /**
   * Makes the whitelist of a location equal to the imported rows in one transaction, and writes an audit record if
   * something changed. All rows must have different plates. Each statement handles only a part of the rows, because the
   * embedded database answers requests of gates between two statements. Before the commit, gates on PostgreSQL see only
   * the old entries, and gates on the embedded database can already see some of the new entries.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope
   */
  return function replace(
    author: Author,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
  ): Promise<MergeResult> {
    const work = async (transaction: Transaction): Promise<MergeResult> => {
      const { companyId } = await lockLocation(transaction, locationId, author.key);
      // The embedded database needs no lock, because it runs no other change during a transaction.
      if (kind !== 'embedded') await queryInTransaction(transaction, lockEntries, { locationId });
      const created = new Set<string>();
      const updated: string[] = [];
      const newIds: string[] = [];
      for (const part of statementParts(entries, kind)) {
        const input = inputParameters(part);
        newIds.push(...input.newIds);
        const written = await queryInTransaction<{ id: string; isNew: boolean }>(transaction, writeEntries, {
          locationId,
          ...input,
          ...scopeParameters(author.key),
        });
        for (const { id, isNew } of written) {
          if (isNew) created.add(id);
          else updated.push(id);
        }
      }
      const deleted = await removeOthers(transaction, locationId, entries);
      const changes = Object.entries({ created: [...created], updated, deleted }).filter(
        ([, ids]) => ids.length > 0,
      );
      if (changes.length > 0) {
        await recordChanges(transaction, author, [
          {
            action: 'whitelist.imported',
            targetId: locationId,
            companyId,
            locationId,
            changes: { mode: 'REPLACE', ...Object.fromEntries(changes) },
          },
        ]);
      }
      return {
        isNew: newIds.map((id) => created.has(id)),
        updated: updated.length,
        deleted: deleted.length,
      };
    };
    return locationSlots.run(locationId, () => prisma.$transaction(work), { mayRefuse: false });
  };
}
