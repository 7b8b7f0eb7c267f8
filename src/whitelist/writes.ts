import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { auditParameters, insertAuditRecord } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { scopeCondition, scopeParameters } from '../auth/scope.ts';
import { namedStatement, type NamedStatement } from '../database/named-statement.ts';
import type { Sql } from '../database/types.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { locationNotFound, versionConflict, whitelistEntryNotFound } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import type { LocationNotices } from '../location-access/notices.ts';
import {
  entryAsJson,
  entryColumns,
  plateColumnList,
  valueAssignments,
  valueColumnList,
  valueParameters,
  valuesOf,
  type WhitelistEntryValues,
} from './columns.ts';
import type { WeeklyHours } from './hours.ts';
import { duplicateVehicle } from './plate.ts';
import { entryOf, type Nullable } from './reads.ts';

/** SQL that reads the location if the location is in the scope of the author's key. */
const reachedLocation = `reached AS (
      SELECT l.id, l."companyId" FROM "Location" l WHERE l.id = $locationId AND ${scopeCondition('l')}
    )`;

/** SQL that reads the current entry and locks it, so that no other change can come in between. */
const lockedEntry = `before AS (
      SELECT w.* FROM "WhitelistEntry" w, reached WHERE w.id = $id AND w."locationId" = reached.id FOR UPDATE OF w
    )`;

/**
 * The SQL condition that the entry has the version that the client expects. The condition is also true when the client
 * expects no version.
 */
const isExpected = `($expectedVersion::int IS NULL OR before.version = $expectedVersion)`;

const insertEntry = namedStatement(
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
 * Returns a statement that changes columns of an entry.
 *
 * @param assignments SQL that sets columns of the entry `w`
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

const updateEntry = updateStatement('whitelist-update', valueAssignments);
const setHours = updateStatement('whitelist-set-hours', 'hours = $hours::jsonb');

const deleteEntry = namedStatement(
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

/** The version of the entry that the client expects; null or undefined accepts any version. */
type ExpectedVersion = number | null | undefined;

/** The functions that write single whitelist entries to one database. */
export type WhitelistWrites = ReturnType<typeof createWhitelistWrites>;

/**
 * Creates the functions that write single whitelist entries. Each call is one SQL statement that checks the key's
 * scope, changes the entry and writes the audit record. After the call, watchers of the whitelist are notified.
 */
export function createWhitelistWrites(services: {
  sql: Sql;
  whitelistNotices: Pick<LocationNotices, 'publish'>;
}) {
  const { sql, whitelistNotices } = services;

  /**
   * Runs an SQL statement of this file.
   *
   * @returns the entry that the statement wrote; null when no entry was written
   * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `CONFLICT` when the entry does not have
   *   the expected version
   */
  async function write(
    statement: NamedStatement,
    author: Author,
    locationId: string,
    values: { id: string | null; expectedVersion?: ExpectedVersion } & Record<string, unknown>,
  ): Promise<WhitelistEntry | null> {
    if (!isId(locationId)) throw locationNotFound(locationId);
    const [row] = await sql.query<Nullable<WhitelistEntry> & { foundVersion: number | null }>(
      statement,
      statement.values({ locationId, ...values, ...scopeParameters(author.key), ...auditParameters(author) }),
    );
    if (!row) throw locationNotFound(locationId);
    const entry = entryOf(row);
    if (!entry && row.foundVersion !== null) throw versionConflict(row.foundVersion);
    if (entry) whitelistNotices.publish(locationId);
    return entry;
  }

  return {
    /**
     * Adds an entry to a whitelist.
     *
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `DUPLICATE_VEHICLE` when the whitelist
     *   already has an entry with the plate
     */
    async create(author: Author, locationId: string, values: WhitelistEntryValues): Promise<WhitelistEntry> {
      const created = await write(insertEntry, author, locationId, { id: newId(), ...valuesOf(values) });
      if (!created) throw duplicateVehicle(values);
      return created;
    },

    /**
     * Replaces the values of an entry. If `hours` or `maxEntries` is omitted, its value stays unchanged.
     *
     * @param expectedVersion the version that the entry must still have; when omitted, any version is accepted
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope and for an unknown entry, `CONFLICT`
     *   when the entry has another version, `DUPLICATE_VEHICLE` when another entry of the location has the plate
     */
    async update(
      author: Author,
      locationId: string,
      id: string,
      values: WhitelistEntryValues,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const updated = await write(updateEntry, author, locationId, {
        id: knownId(id),
        ...valuesOf(values),
        expectedVersion: expectedVersion ?? null,
      }).catch((error: unknown) => {
        throw isUniqueViolation(error, 'whitelist_entry_plate_unique') ? duplicateVehicle(values) : error;
      });
      if (!updated) throw whitelistEntryNotFound(id);
      return updated;
    },

    /**
     * Sets the weekly hours in which the vehicle of an entry may enter; null means at all times.
     *
     * @param expectedVersion the version that the entry must still have; when omitted, any version is accepted
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope and for an unknown entry, `CONFLICT`
     *   when the entry has another version
     */
    async setHours(
      author: Author,
      locationId: string,
      id: string,
      hours: readonly WeeklyHours[] | null,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const updated = await write(setHours, author, locationId, {
        id: knownId(id),
        hours: hours && JSON.stringify(hours),
        expectedVersion: expectedVersion ?? null,
      });
      if (!updated) throw whitelistEntryNotFound(id);
      return updated;
    },

    /**
     * Removes an entry, and returns its last state.
     *
     * @param expectedVersion the version that the entry must still have; when omitted, any version is accepted
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope and for an unknown entry, `CONFLICT`
     *   when the entry has another version
     */
    async remove(
      author: Author,
      locationId: string,
      id: string,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const removed = await write(deleteEntry, author, locationId, {
        id: knownId(id),
        expectedVersion: expectedVersion ?? null,
      });
      if (!removed) throw whitelistEntryNotFound(id);
      return removed;
    },
  };
}

/**
 * Returns the id if it has the form of an identifier; otherwise null, so that the statement finds no entry. The
 * database would reject some malformed ids.
 */
const knownId = (id: string) => (isId(id) ? id : null);
