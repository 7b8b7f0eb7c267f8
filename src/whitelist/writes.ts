import type { WhitelistEntry } from '../prisma/generated/client/client.ts';
import type { Author } from './audit.ts';
import type { Sql, Statement } from './db.ts';
import { newId } from './ids.ts';
import { scopeCondition, scopeValues } from './scope.ts';
import { entryColumns, entryOf, type Nullable } from './whitelist-reads.ts';

/** What a client writes of an entry. */
export type WhitelistEntryValues = Pick<
  WhitelistEntry,
  | 'referenceId'
  | 'plateType'
  | 'plateCode'
  | 'plateNumber'
  | 'vehicleType'
  | 'note'
  | 'validFrom'
  | 'validUntil'
>;

/** The location of the first parameter, if the key whose scope follows reaches it. */
const reachedLocation = `reached AS (
      SELECT l.id, l."companyId" FROM "Location" l WHERE l.id = $1 AND ${scopeCondition('$2', '$3', '$4')}
    )`;

/** What a statement writes of an audit record: `recordChange` for those that are not Prisma's. */
export const auditColumns =
  '"AuditRecord" (id, "apiKeyId", "requestId", action, "companyId", "locationId", "targetId", changes)';

const insertEntry: Statement = {
  name: 'whitelist-create',
  text: `
    WITH ${reachedLocation},
    inserted AS (
      INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
        "vehicleType", note, "validFrom", "validUntil")
      SELECT $5, reached.id, $6, $7, $8, $9, $10, $11, $12::timestamptz, $13::timestamptz FROM reached
      ON CONFLICT ("locationId", "plateType", "plateCode", "plateNumber") DO NOTHING
      RETURNING *
    ), audited AS (
      INSERT INTO ${auditColumns}
      SELECT $14, $15, $16, 'whitelist.created', reached."companyId", reached.id, inserted.id, to_jsonb(inserted)
      FROM reached, inserted
    )
    SELECT reached.id AS "foundId", ${entryColumns} FROM reached LEFT JOIN inserted e ON true`,
};

const updateEntry: Statement = {
  name: 'whitelist-update',
  text: `
    WITH ${reachedLocation},
    before AS (
      SELECT w.* FROM "WhitelistEntry" w, reached WHERE w.id = $5 AND w."locationId" = reached.id FOR UPDATE OF w
    ), updated AS (
      UPDATE "WhitelistEntry" w SET "referenceId" = $6, "plateType" = $7, "plateCode" = $8, "plateNumber" = $9,
        "vehicleType" = $10, note = $11, "validFrom" = $12::timestamptz, "validUntil" = $13::timestamptz,
        "updatedAt" = now()
      FROM before WHERE w.id = before.id
      RETURNING w.*
    ), audited AS (
      INSERT INTO ${auditColumns}
      SELECT $14, $15, $16, 'whitelist.updated', reached."companyId", reached.id, updated.id,
        jsonb_build_object('before', to_jsonb(before), 'after', to_jsonb(updated))
      FROM reached, before, updated
    )
    SELECT reached.id AS "foundId", ${entryColumns} FROM reached LEFT JOIN updated e ON true`,
};

const deleteEntry: Statement = {
  name: 'whitelist-delete',
  text: `
    WITH ${reachedLocation},
    deleted AS (
      DELETE FROM "WhitelistEntry" w USING reached WHERE w.id = $5 AND w."locationId" = reached.id RETURNING w.*
    ), audited AS (
      INSERT INTO ${auditColumns}
      SELECT $6, $7, $8, 'whitelist.deleted', reached."companyId", reached.id, deleted.id, to_jsonb(deleted)
      FROM reached, deleted
    )
    SELECT reached.id AS "foundId", ${entryColumns} FROM reached LEFT JOIN deleted e ON true`,
};

/** The values of an entry in the order of its columns. */
function columnValues(values: WhitelistEntryValues) {
  return [
    values.referenceId,
    values.plateType,
    values.plateCode,
    values.plateNumber,
    values.vehicleType,
    values.note,
    iso(values.validFrom),
    iso(values.validUntil),
  ];
}

/** An instant as a parameter that both databases take, in arrays too. */
export const iso = (instant: Date | null) => instant?.toISOString() ?? null;

/** The changes of single entries in one database. */
export type WhitelistWrites = ReturnType<typeof createWhitelistWrites>;

/**
 * Prepares the writes of single entries. Each is one statement that checks the scope, changes the entry and leaves
 * the audit record.
 */
export function createWhitelistWrites(sql: Sql) {
  return {
    /**
     * Adds an entry.
     *
     * @returns the entry; null when the location has the plate already, undefined for a location out of reach
     */
    async create(
      author: Author,
      locationId: string,
      values: WhitelistEntryValues,
    ): Promise<WhitelistEntry | null | undefined> {
      const [row] = await sql.query<Nullable<WhitelistEntry>>(insertEntry, [
        locationId,
        ...scopeValues(author.key),
        newId(),
        ...columnValues(values),
        newId(),
        author.key.id,
        author.requestId,
      ]);
      return row && entryOf(row);
    },

    /**
     * Replaces the values of an entry.
     *
     * @returns the entry; null for an unknown one, undefined for a location out of reach
     * @throws a unique violation of `whitelist_entry_plate_unique`
     */
    async update(
      author: Author,
      locationId: string,
      id: string,
      values: WhitelistEntryValues,
    ): Promise<WhitelistEntry | null | undefined> {
      const [row] = await sql.query<Nullable<WhitelistEntry>>(updateEntry, [
        locationId,
        ...scopeValues(author.key),
        id,
        ...columnValues(values),
        newId(),
        author.key.id,
        author.requestId,
      ]);
      return row && entryOf(row);
    },

    /**
     * Removes an entry.
     *
     * @returns the entry as it was; null for an unknown one, undefined for a location out of reach
     */
    async remove(author: Author, locationId: string, id: string): Promise<WhitelistEntry | null | undefined> {
      const [row] = await sql.query<Nullable<WhitelistEntry>>(deleteEntry, [
        locationId,
        ...scopeValues(author.key),
        id,
        newId(),
        author.key.id,
        author.requestId,
      ]);
      return row && entryOf(row);
    },
  };
}
