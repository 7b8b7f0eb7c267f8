import { Permission } from '../../prisma/generated/client/enums.ts';
import { defaultLimits } from '../../src/auth/key.ts';
import { hashSecret, newSecret, secretHint } from '../../src/auth/key-secret.ts';
import type { Database } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { seedWorld } from '../seed.ts';
import { bulkLocations, companyId, locationId, type World } from '../world.ts';

/** The seeded data, including the API key that the expensive requests use. */
export interface WorstWorld extends World {
  /**
   * The secret of an API key whose scope contains the large locations and the companies with very large settings. The
   * API key has the default rate limits and all permissions.
   */
  spenderSecret: string;
  /**
   * The id of an API key with many usage records. This API key has the same scope as the API key with the secret
   * `spenderSecret`.
   */
  busyKeyId: string;
}

/**
 * The number of companies whose company settings have a size of 16 MiB. Only earlier versions of the gateway accepted
 * company settings of 16 MiB. In half of these companies, the company settings contain one long text; in the other
 * half, they contain many values.
 */
const oldCompanies = 60;
const oldSettingsBytes = 16 * 1024 * 1024;
/**
 * The number of audit records about imports. Each of these audit records describes an import that replaced
 * `importedEntries` whitelist entries.
 */
const importRecords = 60;
const importedEntries = 10_000;
/**
 * One seeded API key has usage records for `usageHours` hours. In each of these hours, the API key has run
 * `usedOperations` different operations.
 */
const usageHours = 31 * 24;
const usedOperations = 50;
/** The reference of the whitelist entries whose vehicles all are inside, and use the same quota. */
const quotaReference = 'staff';
/** The number of vehicles inside, which are the first entries of the whitelist. */
const openSessions = 5_000;
/** The number of parking sessions that have ended. */
const endedSessions = 20_000;
/** The number of whitelist entries with texts of the maximum length. */
const longEntries = 10_000;
const longNote = '漢'.repeat(500);

const bulkCompany = 10;
const oldCompanyId = (number: number) => companyId(1000 + number);

/**
 * Fills an empty database with data that makes requests expensive. The caller must first apply all migrations to the
 * database.
 *
 * @param spenders the number of API keys to create for expensive requests. None of these new API keys has used any rate
 *   limit points yet
 * @returns one object for each new API key, which contains the secret of the API key and describes the seeded data
 */
export async function seedWorst(database: Database, pepper: string, spenders: number): Promise<WorstWorld[]> {
  const { sql, kind } = database;
  const world = await seedWorld(database, { pepper, million: false });
  const run = (text: string, values: unknown[] = []) => sql.query({ name: '', text }, values);

  // On the embedded database, the company settings with many values are smaller than on a PostgreSQL server. Larger
  // company settings would need more memory than the embedded database has.
  const [value, values] =
    kind === 'embedded' ? ['{"a":12345678}', 600_000] : ['{}', oldSettingsBytes / 3 - 10];
  const settings = [
    `jsonb_build_object('text', repeat('x', ${oldSettingsBytes - 20}))`,
    `('{"values":[' || repeat('${value},', ${Math.floor(values)}) || '{}]}')::jsonb`,
  ];
  for (const [first, made] of settings.entries()) {
    for (let number = first; number < oldCompanies; number += settings.length) {
      const copied = `(SELECT settings FROM "Company" WHERE id = '${oldCompanyId(first)}')`;
      const stored = number > first ? copied : made;
      await run(
        `INSERT INTO "Company" (id, name, slug, address, settings) VALUES ($1, 'Old', $2, 'Dubai', ${stored})`,
        [oldCompanyId(number), `old-${number}`],
      );
    }
  }
  const keys = [];
  for (let number = 0; number <= spenders; number += 1) keys.push(await createSpender(database, pepper));
  const { id } = keys.pop()!;
  await run(
    `INSERT INTO "UsageTotal" ("apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt")
      SELECT $1, date_trunc('hour', now()) - h * interval '1 hour', 'query ' || o, 'graphql', 200, '', 20, now()
      FROM generate_series(0, $2::int) h, generate_series(1, $3::int) o`,
    [id, usageHours, usedOperations],
  );
  await run(
    `INSERT INTO "AuditRecord" (id, "apiKeyId", "requestId", action, "companyId", "locationId", "targetId", changes)
      SELECT gen_random_uuid()::text, $1, 'seed', 'whitelist.imported', $2, $3, $3, ids.changes
      FROM generate_series(1, $4::int), (
        SELECT jsonb_build_object('mode', 'REPLACE', 'created', jsonb_agg(gen_random_uuid()), 'deleted', jsonb_agg(gen_random_uuid())) AS changes
        FROM generate_series(1, $5::int)) ids`,
    [id, companyId(bulkCompany), locationId(bulkLocations.import), importRecords, importedEntries],
  );
  await run(
    `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", "vehicleType", note)
      SELECT '01900000-0004-7000-8000-' || lpad(to_hex(i), 12, '0'), $1, CASE WHEN i <= $4 THEN '${quotaReference}' ELSE repeat('r', 100) END, 'DXB', 'A', i::text, repeat('v', 50), $2
      FROM generate_series(1, $3::int) i`,
    [locationId(bulkLocations.import), longNote, longEntries, openSessions],
  );
  await run(
    `WITH stays AS MATERIALIZED (
        SELECT '01900000-0006-7000-8000-' || lpad(to_hex(i), 12, '0') AS entry, '01900000-0007-7000-8000-' || lpad(to_hex(i), 12, '0') AS exit,
          i::text AS number, i <= $2 AS open,
          CASE WHEN i <= $2 THEN '01900000-0004-7000-8000-' || lpad(to_hex(i), 12, '0') END AS "entryId",
          CASE WHEN i <= $2 THEN now() - interval '3 hours' ELSE now() - i * interval '2 minutes' - interval '8 hours' END AS "enteredAt"
        FROM generate_series(1, $2::int + $3::int) i
      ), events AS (
        INSERT INTO "ParkingEvent" (id, "locationId", "eventId", kind, "plateType", "plateCode", "plateNumber", "occurredAt", "whitelistEntryId", listed)
        SELECT entry, $1, entry, 'ENTRY'::"ParkingEventKind", 'DXB', 'A', number, "enteredAt", "entryId", open FROM stays
        UNION ALL SELECT exit, $1, exit, 'EXIT', 'DXB', 'A', number, "enteredAt" + interval '3 hours', NULL, false FROM stays WHERE NOT open
      )
      INSERT INTO "ParkingSession" (id, "locationId", "plateType", "plateCode", "plateNumber", "enteredAt", "exitedAt", "endedAt", open, "whitelistEntryId", listed)
      SELECT entry, $1, 'DXB', 'A', number, "enteredAt", CASE WHEN NOT open THEN "enteredAt" + interval '3 hours' END,
        CASE WHEN NOT open THEN "enteredAt" + interval '3 hours' END, open, "entryId", open FROM stays`,
    [locationId(bulkLocations.import), openSessions, endedSessions],
  );
  await run(
    `INSERT INTO "Quota" (id, "locationId", "referenceId", inside, enforcement)
      SELECT gen_random_uuid()::text, $1, CASE WHEN i = 0 THEN '${quotaReference}' ELSE 'unit-' || i END, 10000, 'HARD' FROM generate_series(0, 999) i`,
    [locationId(bulkLocations.import)],
  );
  await run('VACUUM ANALYZE');
  return keys.map(({ secret }) => ({ ...world, spenderSecret: secret, busyKeyId: id }));
}

async function createSpender({ prisma }: Database, pepper: string): Promise<{ id: string; secret: string }> {
  const secret = newSecret('development');
  const id = newId();
  const reached = [
    companyId(bulkCompany),
    ...Array.from({ length: oldCompanies }, (_, number) => oldCompanyId(number)),
  ];
  await prisma.apiKey.create({
    data: {
      id,
      name: 'Spender',
      environment: 'development',
      permissions: Object.values(Permission),
      companies: { connect: reached.map((company) => ({ id: company })) },
      ...defaultLimits,
      secrets: { create: { id: newId(), hash: hashSecret(secret, pepper), hint: secretHint(secret) } },
    },
  });
  return { id, secret };
}
