import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuditAction } from '../audit/actions.ts';
import { authorArrayParameters, authorColumns, insertAuditRecord } from '../audit/statements.ts';
import { isInScope } from '../auth/scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { maxJoinedWaitMs } from '../database/session.ts';
import {
  entryAsJson,
  entryColumns,
  fitsText,
  keepArrayParameters,
  keepColumnList,
  type Nullable,
  plateColumnList,
  textRows,
  valueArrayParameters,
  valueAssignments,
  valueColumnList,
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

/**
 * The columns that clients can set, and the SQL parameters for these columns. Each SQL parameter is an array with the
 * values of one column.
 */
interface SentColumns {
  columns: readonly string[];
  parameters: readonly string[];
}

/**
 * A batch can contain changes from several clients. The returned SQL selects the changes that are permitted. The table
 * `reached` contains the permitted changes. A change is permitted if its location is in the scope of the client's API
 * key. `reached.n` is the position of the change in the SQL parameters, starting at 1, and `reached.id` is the id of
 * the location. If the statement contains several changes, PostgreSQL waits at most `maxJoinedWaitMs` for each locked
 * row. A locked row therefore delays the other changes of the batch by at most `maxJoinedWaitMs`.
 */
const reachedLocations = (sent: SentColumns) => {
  const parameters = [
    ...['$locationId::text[]', '$rowId::text[]', '$isReached::boolean[]', '$companyIds::text[]'],
    ...[authorArrayParameters, ...sent.parameters],
  ];
  const columns = ['id', '"rowId"', '"isReached"', '"companyIds"', authorColumns, ...sent.columns, 'n'];
  return `
    limited AS MATERIALIZED (
      SELECT CASE WHEN cardinality($rowId::text[]) > 1 THEN set_config('lock_timeout', '${maxJoinedWaitMs}', true) END
    ), reached AS MATERIALIZED (
      SELECT q.*, l."companyId"
      FROM limited, unnest(${parameters.join(', ')}) WITH ORDINALITY AS q(${columns.join(', ')})
      JOIN "Location" l ON l.id = q.id AND ${isInScope}
    )`;
};

/**
 * A row in the result of an SQL statement that writes whitelist entries. The field `n` is the number of the change to
 * which the row belongs, starting at 1. If the location of a change is outside the scope of the API key, the result
 * contains no row for the change. If the statement did not write the whitelist entry, the columns of this entry are
 * null in the result. `foundVersion` is the version of the whitelist entry before the change. If the whitelist entry
 * did not exist before the change, `foundVersion` is null.
 */
export type WriteRow = Nullable<WhitelistEntry> & { n: number; foundVersion: number | null };

/** Adds whitelist entries, except entries whose plate is already on the whitelist of the location. */
export const insertEntries = namedStatement(
  'whitelist-create',
  `
    WITH ${reachedLocations({ columns: [valueColumnList], parameters: [valueArrayParameters] })},
    inserted AS (
      INSERT INTO "WhitelistEntry" (id, "locationId", ${valueColumnList})
      SELECT "rowId", id, ${valueColumnList} FROM reached ORDER BY n
      ON CONFLICT ("locationId", ${plateColumnList()}) DO NOTHING
      RETURNING *
    ), audited AS (
      ${insertAuditRecord('whitelist.created', {
        location: 'reached',
        targetId: 'inserted.id',
        changes: entryAsJson('inserted'),
        author: 'reached',
      })}
      FROM reached JOIN inserted ON inserted.id = reached."rowId" ORDER BY reached.n
    )
    SELECT reached.n::int, NULL::int AS "foundVersion", ${entryColumns('e')}
    FROM reached LEFT JOIN inserted e ON e.id = reached."rowId"`,
);

/**
 * Returns an SQL statement that changes or removes whitelist entries. The SQL statement locks the whitelist entries in
 * the order of the entry ids, so that two concurrent SQL statements cannot deadlock.
 *
 * @param written the SQL text, without its `WHERE` clause, that changes or removes whitelist entries (table alias `w`).
 *   The table `expected` contains only the changes that pass the version check
 * @param changes an SQL expression that creates the JSON of the audit record. The expression reads the tables `before`
 *   and `written` of the SQL statement
 */
const writeStatement = (
  name: string,
  sent: SentColumns,
  { action, written, changes }: { action: AuditAction; written: string; changes: string },
) =>
  namedStatement(
    name,
    `
    WITH ${reachedLocations({
      columns: ['"expectedVersion"', ...sent.columns],
      parameters: ['$expectedVersion::int[]', ...sent.parameters],
    })},
    before AS (
      SELECT w.* FROM reached JOIN "WhitelistEntry" w ON w.id = reached."rowId" AND w."locationId" = reached.id
      ORDER BY w.id FOR UPDATE OF w
    ), expected AS (
      SELECT reached.* FROM reached JOIN before ON before.id = reached."rowId" AND before."locationId" = reached.id
      WHERE reached."expectedVersion" IS NULL OR reached."expectedVersion" = before.version
    ), written AS (
      ${written} WHERE w.id = expected."rowId" RETURNING w.*
    ), audited AS (
      ${insertAuditRecord(action, { location: 'expected', targetId: 'written.id', changes, author: 'expected' })}
      FROM expected JOIN written ON written.id = expected."rowId" JOIN before ON before.id = written.id
      ORDER BY expected.n
    )
    SELECT reached.n::int, before.version AS "foundVersion", ${entryColumns('e')}
    FROM reached
    LEFT JOIN before ON before.id = reached."rowId" AND before."locationId" = reached.id
    LEFT JOIN written e ON e.id = before.id`,
  );

/**
 * Returns an SQL statement that changes some columns of whitelist entries.
 *
 * @param assignments SQL that copies values from the table `expected` to columns of a whitelist entry (table alias `w`)
 */
const updateStatement = (name: string, sent: SentColumns, assignments: string) =>
  writeStatement(name, sent, {
    action: 'whitelist.updated',
    written: `UPDATE "WhitelistEntry" w SET ${assignments}, version = w.version + 1, "updatedAt" = now() FROM expected`,
    changes: `jsonb_build_object('before', ${entryAsJson('before')}, 'after', ${entryAsJson('written')})`,
  });

/** Replaces the values of whitelist entries. */
export const updateEntries = updateStatement(
  'whitelist-update',
  {
    columns: [valueColumnList, keepColumnList],
    parameters: [valueArrayParameters, keepArrayParameters],
  },
  valueAssignments('expected'),
);

/** Replaces only the weekly hours of whitelist entries. */
export const setHours = updateStatement(
  'whitelist-set-hours',
  { columns: ['hours'], parameters: ['$hours::text[]::jsonb[]'] },
  'hours = expected.hours',
);

/** Removes whitelist entries. */
export const deleteEntries = writeStatement(
  'whitelist-delete',
  { columns: [], parameters: [] },
  {
    action: 'whitelist.deleted',
    written: 'DELETE FROM "WhitelistEntry" w USING expected',
    changes: entryAsJson('written'),
  },
);
