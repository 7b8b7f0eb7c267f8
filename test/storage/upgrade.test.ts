import { describe, expect, test } from 'vitest';
import { hashSecret, newSecret, secretHint } from '../../src/auth/key-secret.ts';
import { loadConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { pino } from 'pino';
import { openTestGateway } from '../support/harness.ts';
import { createScratchDatabase, migrateUpTo } from '../support/scratch-database.ts';

/** The name of the first database migration after version 1.5.0. */
const firstOfNextRelease = '20261121191634_usage_record_error_code';
const { keyPepper } = loadConfig({});
const log = pino({ level: 'silent' });

/**
 * Inserts a company and its data into the database as version 1.5.0 did, and returns an API key and the ids of the
 * inserted rows.
 */
async function writeAsLastRelease({ prisma }: Database) {
  const [companyId, locationId, entryId, keyId, eventId] = Array.from({ length: 5 }, newId) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const secret = newSecret('development');
  await prisma.$executeRaw`INSERT INTO "Company" (id, name, slug, address) VALUES (${companyId}, 'Old', ${companyId}, 'Dubai')`;
  await prisma.$executeRaw`INSERT INTO "Location" (id, "companyId", name, slug, capacity) VALUES (${locationId}, ${companyId}, 'Old', 'old', 10)`;
  await prisma.$executeRaw`INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
    VALUES (${entryId}, ${locationId}, 'unit-7', 'DXB', 'A', '7')`;
  await prisma.$executeRaw`INSERT INTO "ApiKey" (id, name, environment, permissions)
    VALUES (${keyId}, 'Old', 'development', ARRAY['READ_WHITELIST', 'READ_STATUS', 'READ_ACTIVITY']::"Permission"[])`;
  await prisma.$executeRaw`INSERT INTO "ApiKeySecret" (id, "apiKeyId", hash, hint)
    VALUES (${newId()}, ${keyId}, ${hashSecret(secret, keyPepper)}, ${secretHint(secret)})`;
  await prisma.$executeRaw`INSERT INTO "_ApiKeyToCompany" ("A", "B") VALUES (${keyId}, ${companyId})`;
  await prisma.$executeRaw`INSERT INTO "ParkingEvent" (id, "locationId", "eventId", kind, "plateType", "plateCode", "plateNumber",
      "occurredAt", listed, "whitelistEntryId")
    VALUES (${eventId}, ${locationId}, 'gate-1', 'ENTRY', 'DXB', 'A', '7', now(), true, ${entryId})`;
  await prisma.$executeRaw`INSERT INTO "UsageRecord" ("apiKeyId", "requestId", surface, operation, status, "durationMs", address, "createdAt")
    VALUES (${keyId}, ${newId()}, 'rest', 'GET /locations', 200, 1, '192.0.2.1', now())`;
  return { locationId, entryId, secret };
}

interface Column {
  table: string;
  column: string;
  type: string;
  isRequired: boolean;
}

/**
 * Returns the columns of all tables. A column is required if every `INSERT` statement must contain a value for the
 * column.
 */
const columnsOf = ({ prisma }: Database) =>
  prisma.$queryRaw<Column[]>`
    SELECT table_name AS "table", column_name AS "column", udt_name AS "type",
      is_nullable = 'NO' AND column_default IS NULL AS "isRequired"
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`;

describe('upgrade of a database of version 1.5.0', () => {
  test('the upgrade of a database from version 1.5.0 changes no data, and version 1.5.0 can still write to the database', async () => {
    const scratch = await createScratchDatabase({ migrated: false });
    const before = await openDatabase({ ...scratch, log });
    await migrateUpTo(before, firstOfNextRelease);
    const { locationId, entryId, secret: key } = await writeAsLastRelease(before);
    const oldColumns = await columnsOf(before);
    await before.close();

    const gateway = await openTestGateway({}, { database: scratch });
    const whitelist = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(whitelist.body.data).toMatchObject([{ id: entryId, referenceId: 'unit-7' }]);
    expect((await gateway.rest('GET', `/locations/${locationId}/status`, { key })).body.data).toMatchObject({
      whitelistedVehicles: 1,
    });

    // Version 1.5.0 can use the upgraded database only if the migrations have removed none of the columns that version
    // 1.5.0 knows.
    const columns = await columnsOf(gateway.database);
    for (const { table, column, type } of oldColumns)
      expect(columns, `${table}.${column}`).toContainEqual(expect.objectContaining({ table, column, type }));
    const isOld = ({ table, column }: Column) =>
      oldColumns.some((old) => old.table === table && old.column === column);
    const hasOldTable = ({ table }: Column) => oldColumns.some((old) => old.table === table);
    const newAndRequired = columns.filter((each) => each.isRequired && hasOldTable(each) && !isOld(each));
    expect(newAndRequired).toEqual([]);
    await migrateUpTo(gateway.database, firstOfNextRelease);
    const later = await writeAsLastRelease(gateway.database);
    const written = await gateway.rest('GET', `/locations/${later.locationId}/whitelist`, {
      key: later.secret,
    });
    expect(written.body.data).toMatchObject([{ id: later.entryId }]);
  });
});
