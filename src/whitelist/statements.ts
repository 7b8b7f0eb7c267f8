import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { insertAuditRecord } from '../audit/statements.ts';
import { scopeCondition } from '../auth/scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import {
  entryAsJson,
  entryColumns,
  fitsText,
  type Nullable,
  plateColumnList,
  textRows,
  valueAssignments,
  valueColumnList,
  valueParameters,
} from './columns.ts';

// The SQL statements that find and write single whitelist entries. A statement that writes a whitelist entry also
// checks the scope of the API key and writes the audit record.

/** Reads whitelist entries by their ids. */
export const entriesById = namedStatement(
  'whitelist-entries-by-id',
  `SELECT ${entryColumns('e')} FROM "WhitelistEntry" e WHERE e.id = ANY($ids::text[])`,
);

/** How many times the vehicle of a whitelist entry has entered. */
export interface EntryUse {
  id: string;
  recorded: number;
}

/** Reads how many times the vehicles of whitelist entries have entered. */
export const usesById = namedStatement(
  'whitelist-uses-by-id',
  'SELECT u."entryId" AS id, u.recorded FROM "WhitelistEntryUse" u WHERE u."entryId" = ANY($ids::text[])',
);

/** Finds the whitelist entries of a location that match one of the texts that a camera may have read. */
export const entriesOfTexts = namedStatement(
  'whitelist-entries-of-readings',
  `
    SELECT t.n, t.place, ${entryColumns('e')}
    FROM ${textRows}
    JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND ${fitsText}`,
);

/** SQL that reads the location if the location is in the scope of the author's API key. */
const reachedLocation = `reached AS (
      SELECT l.id, l."companyId" FROM "Location" l WHERE l.id = $locationId AND ${scopeCondition('l')}
    )`;

/**
 * SQL that reads the current whitelist entry and locks the entry. Until the transaction ends, no other transaction can
 * change the entry.
 */
const lockedEntry = `before AS (
      SELECT w.* FROM "WhitelistEntry" w, reached WHERE w.id = $id AND w."locationId" = reached.id FOR UPDATE OF w
    )`;

/**
 * The SQL condition that is true when the client expects no version of the whitelist entry, or when the expected
 * version is the current version.
 */
const isExpected = `($expectedVersion::int IS NULL OR before.version = $expectedVersion)`;

/**
 * A result row of a statement that writes a whitelist entry. If the statement wrote no whitelist entry, the columns of
 * the whitelist entry are null. `foundVersion` is the version of the whitelist entry before the change; null when the
 * whitelist entry did not exist.
 */
export type WriteRow = Nullable<WhitelistEntry> & { foundVersion: number | null };

/** Adds a whitelist entry, unless the whitelist already has an entry with the same plate. */
export const insertEntry = namedStatement(
  'whitelist-create',
  `
    WITH ${reachedLocation},
    inserted AS (
      INSERT INTO "WhitelistEntry" (id, "locationId", ${valueColumnList})
      SELECT $id, reached.id, ${valueParameters} FROM reached
      ON CONFLICT ("locationId", ${plateColumnList()}) DO NOTHING
      RETURNING *
    ), audited AS (
      ${insertAuditRecord('whitelist.created', { location: 'reached', targetId: 'inserted.id', changes: entryAsJson('inserted') })}
      FROM reached, inserted
    )
    SELECT NULL::int AS "foundVersion", ${entryColumns('e')} FROM reached LEFT JOIN inserted e ON true`,
);

/**
 * Returns an SQL statement that changes some columns of one whitelist entry.
 *
 * @param assignments SQL that sets columns of the whitelist entry `w`
 */
const updateStatement = (name: string, assignments: string) =>
  namedStatement(
    name,
    `
    WITH ${reachedLocation},
    ${lockedEntry}, updated AS (
      UPDATE "WhitelistEntry" w SET ${assignments}, version = w.version + 1, "updatedAt" = now()
      FROM before WHERE w.id = before.id AND ${isExpected}
      RETURNING w.*
    ), audited AS (
      ${insertAuditRecord('whitelist.updated', {
        location: 'reached',
        targetId: 'updated.id',
        changes: `jsonb_build_object('before', ${entryAsJson('before')}, 'after', ${entryAsJson('updated')})`,
      })}
      FROM reached, before, updated
    )
    SELECT before.version AS "foundVersion", ${entryColumns('e')}
    FROM reached LEFT JOIN before ON true LEFT JOIN updated e ON true`,
  );

/** Replaces the values of a whitelist entry. */
export const updateEntry = updateStatement('whitelist-update', valueAssignments);

/** Replaces only the weekly hours of a whitelist entry. */
export const setHours = updateStatement('whitelist-set-hours', 'hours = $hours::jsonb');

/** Removes a whitelist entry. */
export const deleteEntry = namedStatement(
  'whitelist-delete',
  `
    WITH ${reachedLocation},
    ${lockedEntry}, deleted AS (
      DELETE FROM "WhitelistEntry" w USING before WHERE w.id = before.id AND ${isExpected} RETURNING w.*
    ), audited AS (
      ${insertAuditRecord('whitelist.deleted', { location: 'reached', targetId: 'deleted.id', changes: entryAsJson('deleted') })}
      FROM reached, deleted
    )
    SELECT before.version AS "foundVersion", ${entryColumns('e')}
    FROM reached LEFT JOIN before ON true LEFT JOIN deleted e ON true`,
);
