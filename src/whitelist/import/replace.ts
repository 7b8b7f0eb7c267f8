import type { PrismaClient } from '../../../prisma/generated/client/client.ts';
import { recordChange } from '../../audit/record.ts';
import type { WaitingAuthor } from '../../auth/key.ts';
import { scopeParameters } from '../../auth/scope.ts';
import { queryInTransaction } from '../../database/named-statement.ts';
import type { Database, Transaction } from '../../database/types.ts';
import { lockLocation } from '../../location-access/lock.ts';
import type { LocationSlots } from '../../location-access/location-slots.ts';
import type { WhitelistEntryValues } from '../columns.ts';
import { plateArrays } from '../plate.ts';
import { inputParameters, type MergeResult, statementParts } from './rows.ts';
import { entriesPerSearch, findOthers, lockEntries, removeEntries, writeEntries } from './statements.ts';

/** Creates the function that replaces the whitelist of a location with the imported rows (import mode REPLACE). */
export function createWhitelistReplace(services: {
  prisma: PrismaClient;
  locationSlots: LocationSlots;
  kind: Database['kind'];
}) {
  const { prisma, locationSlots, kind } = services;

  /**
   * Removes the whitelist entries whose plates are not among the imported rows.
   *
   * @returns the identifiers of the removed whitelist entries
   */
  async function removeOthers(
    transaction: Transaction,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
  ): Promise<string[]> {
    const plates = plateArrays(entries);
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
   * Makes the whitelist of a location equal to the imported rows, in one transaction. If the import changed the
   * whitelist, its transaction also writes an audit record. Each plate may occur in only one of the imported rows.
   * Several SQL statements write the imported rows, so that the embedded database can answer requests of gates between
   * two statements. On PostgreSQL, gates find only the old whitelist entries until the transaction commits. On the
   * embedded database, gates can find some of the new whitelist entries before the commit.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when earlier
   *   changes take too long
   */
  return function replace(
    author: WaitingAuthor,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
  ): Promise<MergeResult> {
    const work = async (transaction: Transaction): Promise<MergeResult> => {
      const { companyId } = await lockLocation(transaction, locationId, author.key);
      // On the embedded database, the whitelist entries need no lock, because no other change runs during a
      // transaction.
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
        await recordChange(transaction, author, {
          action: 'whitelist.imported',
          targetId: locationId,
          companyId,
          locationId,
          changes: { mode: 'REPLACE', ...Object.fromEntries(changes) },
        });
      }
      return {
        isNew: newIds.map((id) => created.has(id)),
        updated: updated.length,
        deleted: deleted.length,
      };
    };
    return locationSlots.run(author, locationId, () => prisma.$transaction(work));
  };
}
