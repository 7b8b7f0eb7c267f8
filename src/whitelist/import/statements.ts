import { insertAuditRecord } from '../../audit/statements.ts';
import { namedStatement } from '../../database/named-statement.ts';
import { lockedLocation } from '../../location-access/statements.ts';
import { isMergeChange, plateColumnList, samePlate } from '../columns.ts';
import { inputRows, type MergeMode, writeRows } from './rows.ts';

// The SQL statements that import rows into a whitelist, or predict the result of an import.

/**
 * Returns the SQL statement that writes one batch of imported rows and its audit record. PostgreSQL always uses a hash
 * table for `IN` with a subquery that does not depend on the outer query. The SQL statement therefore uses `IN` instead
 * of a join. A join of two large tables would be slow. When PostgreSQL plans a prepared statement, it assumes that an
 * array parameter has ten elements. With a join, PostgreSQL would therefore compare each row of one table with each row
 * of the other table. The SQL statement locks the row of the location. Without this lock, two imports could write the
 * same plates in different orders and wait for each other (a deadlock).
 */
const mergeStatement = (mode: MergeMode) =>
  namedStatement(
    `whitelist-merge ${mode}`,
    `
    WITH reached AS (${lockedLocation}),
    input AS (${inputRows}),
    written AS (${writeRows(mode === 'CREATE' ? 'skip' : 'update')}),
    changes AS (
      SELECT jsonb_agg(id) FILTER (WHERE "isNew") AS created, jsonb_agg(id) FILTER (WHERE NOT "isNew") AS updated
      FROM written
    ), audited AS (
      ${insertAuditRecord('whitelist.imported', {
        location: 'reached',
        targetId: 'reached.id',
        changes: `jsonb_strip_nulls(jsonb_build_object('mode', '${mode}', 'created', created, 'updated', updated))`,
      })}
      FROM reached, changes WHERE coalesce(created, updated) IS NOT NULL
    )
    SELECT coalesce(created, '[]') AS created, coalesce(jsonb_array_length(updated), 0) AS updated
    FROM reached, changes`,
  );

/** The SQL statements that write one batch of imported rows: one statement for each import mode except REPLACE. */
export const mergeStatements = { CREATE: mergeStatement('CREATE'), UPSERT: mergeStatement('UPSERT') };

/**
 * Locks the whitelist entries of a location. The SQL statement first waits until all concurrent changes of the
 * location's whitelist entries have ended. Until the transaction ends, no other transaction can change the locked
 * whitelist entries.
 */
export const lockEntries = namedStatement(
  'whitelist-lock',
  `SELECT count(*)::int FROM (
    SELECT FROM "WhitelistEntry" WHERE "locationId" = $locationId ORDER BY id FOR UPDATE
  ) locked`,
);

/** Writes one part of the rows of a REPLACE import to the whitelist. */
export const writeEntries = namedStatement(
  'whitelist-replace-write',
  `
  WITH reached AS (${lockedLocation}),
  input AS (${inputRows}),
  written AS (${writeRows('update')})
  SELECT id, "isNew" FROM written`,
);

/**
 * The maximum number of existing whitelist entries that one SQL statement compares with the plates of all imported
 * rows.
 */
export const entriesPerSearch = 5_000;

/**
 * Finds existing whitelist entries whose plates are not among the imported rows. The search starts after the whitelist
 * entry with the id `$after`. PostgreSQL uses a hash table for the subquery of `NOT IN`, because the subquery does not
 * depend on the outer query.
 */
export const findOthers = namedStatement(
  'whitelist-replace-others',
  `
  SELECT w.id FROM "WhitelistEntry" w
  WHERE w."locationId" = $locationId AND w.id > $after AND (${plateColumnList('w')}) NOT IN (
    SELECT ${plateColumnList()}
    FROM unnest($plateType::text[], $plateCode::text[], $plateNumber::text[]) AS i(${plateColumnList()}))
  ORDER BY w.id LIMIT ${entriesPerSearch}`,
);

/** Removes whitelist entries, and returns the ids of the removed whitelist entries. */
export const removeEntries = namedStatement(
  'whitelist-replace-remove',
  `DELETE FROM "WhitelistEntry" WHERE id = ANY($ids::text[]) RETURNING id`,
);

/**
 * Finds the imported rows whose plate is already in the whitelist, and counts how many of these rows differ from the
 * existing whitelist entry.
 */
export const compareRows = namedStatement(
  'whitelist-dry-run-compare',
  `
  WITH input AS (${inputRows})
  SELECT coalesce(jsonb_agg(excluded.id), '[]') AS taken, count(*) FILTER (WHERE ${isMergeChange})::int AS changed
  FROM (SELECT i.*, i."newId" AS id FROM input i) AS excluded
  JOIN "WhitelistEntry" w ON w."locationId" = $locationId AND ${samePlate('w', 'excluded')}`,
);

/** Counts the whitelist entries of a location. */
export const countEntries = namedStatement(
  'whitelist-dry-run-count',
  `SELECT count(*)::int AS count FROM "WhitelistEntry" WHERE "locationId" = $locationId`,
);
