import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { auditParameters } from '../audit/record.ts';
import type { Author } from '../auth/key.ts';
import { scopeOfLocation } from '../auth/scope.ts';
import type { NamedStatement } from '../database/named-statement.ts';
import { createRowWrites } from '../database/row-writes.ts';
import type { Sql } from '../database/types.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { locationNotFound, versionConflict, whitelistEntryNotFound } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import type { LocationNotices } from '../location-access/notices.ts';
import { entryOf, valuesOf, type WhitelistEntryValues } from './columns.ts';
import type { WeeklyHours } from './hours.ts';
import { duplicateVehicle } from './plate.ts';
import { deleteEntries, insertEntries, setHours, updateEntries, type WriteRow } from './statements.ts';

/**
 * The version of the whitelist entry that the client expects. If the expected version is null or `undefined`, the
 * gateway does not check the version.
 */
type ExpectedVersion = number | null | undefined;

/** The functions that add, change and remove single whitelist entries in the database. */
export type WhitelistWrites = ReturnType<typeof createWhitelistWrites>;

/**
 * Creates the functions that add, change and remove single whitelist entries in the database. Calls of one function
 * that arrive in the same iteration of the event loop share one SQL statement. The SQL statement checks the scopes of
 * the API keys, changes the whitelist entries and writes the audit records. After each change, the gateway notifies the
 * clients that watch the whitelist.
 */
export function createWhitelistWrites(services: {
  sql: Sql;
  whitelistNotices: Pick<LocationNotices, 'publish'>;
}) {
  const { sql, whitelistNotices } = services;

  /**
   * Creates a function that adds, changes or removes a whitelist entry with an SQL statement. The created function
   * throws `NOT_FOUND` if the location is outside the API key's scope. The created function throws `CONFLICT` if the
   * current version of the whitelist entry is not the version that the client expects.
   *
   * @returns a function that runs the statement and returns the written whitelist entry. The returned function returns
   *   null if the statement wrote no whitelist entry
   */
  function createWrite(statement: NamedStatement) {
    const run = createRowWrites<WriteRow>(sql, statement);
    return async (
      author: Author,
      locationId: string,
      change: { rowId: string; expectedVersion?: ExpectedVersion } & Record<string, unknown>,
    ): Promise<WhitelistEntry | null> => {
      if (!isId(locationId)) throw locationNotFound(locationId);
      const scope = scopeOfLocation(author.key, locationId);
      const row = await run({ locationId, ...change, ...scope, ...auditParameters(author) });
      if (!row) throw locationNotFound(locationId);
      const entry = entryOf(row);
      if (!entry && row.foundVersion !== null) throw versionConflict(row.foundVersion);
      if (entry) whitelistNotices.publish(locationId);
      return entry;
    };
  }
  const insertEntry = createWrite(insertEntries);
  const updateEntry = createWrite(updateEntries);
  const setEntryHours = createWrite(setHours);
  const deleteEntry = createWrite(deleteEntries);

  return {
    /**
     * Adds an entry to a whitelist.
     *
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `DUPLICATE_VEHICLE` when the whitelist already has an entry with the same plate
     */
    async create(author: Author, locationId: string, values: WhitelistEntryValues): Promise<WhitelistEntry> {
      const created = await insertEntry(author, locationId, { rowId: newId(), ...valuesOf(values) });
      if (!created) throw duplicateVehicle(values);
      return created;
    },

    /**
     * Replaces the values of a whitelist entry. If `values` omits `hours` or `maxEntries`, the existing value of this
     * field stays unchanged.
     *
     * @param expectedVersion the version that the client expects; if omitted, the gateway does not check the version
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope, and for an unknown whitelist entry
     * @throws {ServiceError} `CONFLICT` when the whitelist entry does not have the expected version
     * @throws {ServiceError} `DUPLICATE_VEHICLE` when another whitelist entry of the location has the same plate
     */
    async update(
      author: Author,
      locationId: string,
      id: string,
      values: WhitelistEntryValues,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const updated = await updateEntry(author, locationId, {
        rowId: knownId(id),
        ...valuesOf(values),
        expectedVersion: expectedVersion ?? null,
      }).catch((error: unknown) => {
        throw isUniqueViolation(error, 'whitelist_entry_plate_unique') ? duplicateVehicle(values) : error;
      });
      if (!updated) throw whitelistEntryNotFound(id);
      return updated;
    },

    /**
     * Sets the weekly hours in which the vehicle of a whitelist entry may enter; null means that the vehicle may enter
     * at all times.
     *
     * @param expectedVersion the version that the client expects; if omitted, the gateway does not check the version
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope and for an unknown whitelist entry
     * @throws {ServiceError} `CONFLICT` when the whitelist entry does not have the expected version
     */
    async setHours(
      author: Author,
      locationId: string,
      id: string,
      hours: readonly WeeklyHours[] | null,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const updated = await setEntryHours(author, locationId, {
        rowId: knownId(id),
        hours: hours && JSON.stringify(hours),
        expectedVersion: expectedVersion ?? null,
      });
      if (!updated) throw whitelistEntryNotFound(id);
      return updated;
    },

    /**
     * Removes a whitelist entry, and returns the removed whitelist entry.
     *
     * @param expectedVersion the version that the client expects; if omitted, the gateway does not check the version
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope and for an unknown whitelist entry
     * @throws {ServiceError} `CONFLICT` when the whitelist entry does not have the expected version
     */
    async remove(
      author: Author,
      locationId: string,
      id: string,
      expectedVersion?: ExpectedVersion,
    ): Promise<WhitelistEntry> {
      const removed = await deleteEntry(author, locationId, {
        rowId: knownId(id),
        expectedVersion: expectedVersion ?? null,
      });
      if (!removed) throw whitelistEntryNotFound(id);
      return removed;
    },
  };
}

/**
 * Returns the given id if its format is valid; otherwise returns a new id, which belongs to no whitelist entry. For a
 * malformed id, the SQL statement could fail instead of finding no whitelist entry.
 */
const knownId = (id: string) => (isId(id) ? id : newId());
