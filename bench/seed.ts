import { newSecret, secretHint, hashSecret } from '../src/auth/key-secret.ts';
import type { Database } from '../src/database/types.ts';
import { newId } from '../src/ids.ts';
import { Permission } from '../prisma/generated/client/enums.ts';
import {
  bulkLocations,
  companies,
  companyId,
  createdReference,
  entriesPerLocation,
  entriesPerReference,
  entryId,
  exactLimit,
  locationId,
  mainLocations,
  plateTypes,
  type World,
} from './world.ts';

/** A rate limit for API keys that is so high that no benchmark reaches it. */
const hugeLimit = 10_000_000;
const bulkCompany = companies;
const mainPositions = Array.from({ length: mainLocations }, (_, position) => position);

/**
 * Fills an empty database with companies and their locations. Before this call, the caller must apply all migrations to
 * the database.
 */
export async function seedLocations({ prisma }: Database): Promise<void> {
  await prisma.company.createMany({
    data: Array.from({ length: companies + 1 }, (_, position) => ({
      id: companyId(position),
      name: `Company ${position}`,
      slug: `company-${position}`,
      address: 'Sheikh Zayed Road, Dubai',
    })),
  });
  await prisma.location.createMany({
    data: [...mainPositions, ...Object.values(bulkLocations)].map((position) => ({
      id: locationId(position),
      companyId: companyId(
        position < mainLocations ? Math.floor(position / (mainLocations / companies)) : bulkCompany,
      ),
      name: `Location ${position}`,
      slug: `location-${position}`,
      address: 'Dubai Marina, Dubai',
      capacity: 500,
      timezone: 'Asia/Dubai',
    })),
  });
}

/**
 * Fills an empty database with API keys, with 100 locations of 1,000 whitelist entries each, and with the large
 * locations for the benchmark cases that need large whitelists. Before this call, the caller must apply all migrations
 * to the database.
 */
export async function seedWorld(
  database: Database,
  { pepper, million }: { pepper: string; million: boolean },
): Promise<World> {
  await seedLocations(database);
  for (const position of mainPositions) await fill(database, position, entriesPerLocation);
  await fill(database, bulkLocations.hundredThousand, 100_000);
  if (million) await fill(database, bulkLocations.million, 1_000_000);

  const main = mainPositions.slice(0, companies);
  const key = (name: string, reached: number[], limits: { hourlyLimit: number; burstLimit: number }) =>
    createKey(database, { name, reached, limits, pepper });
  const huge = { hourlyLimit: hugeLimit, burstLimit: hugeLimit };
  const world: World = {
    secrets: await Promise.all(main.map((number) => key(`Main ${number}`, main, huge))),
    bulkSecret: await key('Bulk', [bulkCompany], huge),
    refusedSecret: await key('Refused', main, { hourlyLimit: 1, burstLimit: 1 }),
    exactSecret: await key('Exact', main, { hourlyLimit: exactLimit, burstLimit: exactLimit }),
    unknownSecret: newSecret('development'),
  };
  await tidy(database);
  return world;
}

/** Deletes the whitelist with 100,000 seeded entries, and creates these entries again. */
export async function refill(database: Database): Promise<void> {
  await database.sql.query(
    { name: 'bench-empty', text: 'DELETE FROM "WhitelistEntry" WHERE "locationId" = $1' },
    [locationId(bulkLocations.hundredThousand)],
  );
  await fill(database, bulkLocations.hundredThousand, 100_000);
}

/**
 * Removes the whitelist entries that a benchmark case has added, so that the next benchmark case starts with only the
 * seeded whitelist entries.
 */
export async function removeCreated(database: Database): Promise<void> {
  await database.sql.query(
    { name: 'bench-remove', text: 'DELETE FROM "WhitelistEntry" WHERE "referenceId" = $1' },
    [createdReference],
  );
}

/**
 * Removes the rows that a benchmark case has added to the database, and updates the statistics for the query planner.
 */
export async function tidy(database: Database): Promise<void> {
  await removeCreated(database);
  await database.sql.query(
    { name: '', text: 'TRUNCATE "AuditRecord", "UsageRecord", "UsageTotal", "WhitelistChange" CASCADE' },
    [],
  );
  await database.sql.query({ name: '', text: 'VACUUM ANALYZE' }, []);
}

async function createKey(
  { prisma }: Database,
  options: {
    name: string;
    reached: number[];
    limits: { hourlyLimit: number; burstLimit: number };
    pepper: string;
  },
): Promise<string> {
  const secret = newSecret('development');
  await prisma.apiKey.create({
    data: {
      id: newId(),
      name: options.name,
      environment: 'development',
      permissions: Object.values(Permission).filter((permission) => permission !== 'ADMIN'),
      companies: { connect: options.reached.map((position) => ({ id: companyId(position) })) },
      ...options.limits,
      secrets: {
        create: { id: newId(), hash: hashSecret(secret, options.pepper), hint: secretHint(secret) },
      },
    },
  });
  return secret;
}

/**
 * The number of whitelist entries that one SQL statement inserts. An SQL statement with more than 50,000 whitelist
 * entries could take longer than the statement timeout of the database.
 */
const entriesAtOnce = 50_000;

async function fill({ sql }: Database, location: number, entries: number): Promise<void> {
  const [idPrefix] = entryId(location, 0).match(/^.*-/)!;
  for (let first = 0; first < entries; first += entriesAtOnce) {
    await sql.query(
      {
        name: 'bench-fill',
        text: `
        INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
          "vehicleType", note, "validFrom")
        SELECT $1 || lpad(to_hex(i), 12, '0'), $2, 'unit-' || lpad((i % $3::int)::text, 6, '0'),
          ($4::text[])[1 + i % cardinality($4::text[])], 'A', (i + 1)::text, 'sedan', 'seeded', now() - interval '1 day'
        FROM generate_series($5::int, $6::int - 1) AS i`,
      },
      [
        idPrefix,
        locationId(location),
        entries / entriesPerReference,
        [...plateTypes],
        first,
        Math.min(first + entriesAtOnce, entries),
      ],
    );
  }
}
