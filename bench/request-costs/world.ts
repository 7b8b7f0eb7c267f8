import { Permission } from '../../prisma/generated/client/enums.ts';
import { hashSecret, newSecret, secretHint } from '../../src/auth/key-secret.ts';
import type { Database } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { companyId, locationId } from '../world.ts';

/** The id of the large location of the benchmark data; most requests of the benchmark refer to this location. */
export const large = locationId(0);
/** The number of whitelist entries of the large location, with plates `DXB/A/1` to `DXB/A/10000`. */
export const entries = 10_000;
/**
 * The number of parking events of the large location. After all 11,000 parking events, 5,000 vehicles are inside the
 * large location.
 */
export const events = 11_000;
/** The number of locations in the benchmark data. Every location except the large location has 10 whitelist entries. */
const locations = 100;
const entriesOfSmall = 10;

/** A rate limit in points that is so high that no benchmark uses all these points. */
const hugeLimit = 10_000_000;

/**
 * Fills an empty database with a company and its locations, but without parking events. The caller must first apply all
 * migrations to the database. Returns the secret of an API key whose scope contains the company.
 */
export async function seedCosts({ sql, prisma }: Database, pepper: string): Promise<string> {
  const run = (text: string, values: unknown[]) => sql.query({ name: '', text }, values);
  await prisma.company.create({
    data: { id: companyId(0), name: 'Company', slug: 'company', address: 'Dubai' },
  });
  await prisma.location.createMany({
    data: Array.from({ length: locations }, (_, position) => ({
      id: locationId(position),
      companyId: companyId(0),
      name: `Location ${position}`,
      slug: `location-${position}`,
      capacity: 20_000,
    })),
  });
  await run(
    `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
        "vehicleType", note, "validFrom")
      SELECT '01900000-0005-7000-8000-' || lpad(to_hex(l.n * 100000 + i), 12, '0'), l.id, 'unit-' || i / 3, 'DXB', 'A', i::text, 'sedan', 'seeded', now() - interval '1 day'
      FROM unnest($1::text[]) WITH ORDINALITY AS l(id, n), generate_series(1, CASE WHEN l.id = $2 THEN $3::int ELSE $4::int END) AS i`,
    [
      Array.from({ length: locations }, (_, position) => locationId(position)),
      large,
      entries,
      entriesOfSmall,
    ],
  );
  const secret = newSecret('development');
  await prisma.apiKey.create({
    data: {
      id: newId(),
      name: 'Costs',
      environment: 'development',
      permissions: Object.values(Permission),
      companies: { connect: { id: companyId(0) } },
      hourlyLimit: hugeLimit,
      burstLimit: hugeLimit,
      secrets: { create: { id: newId(), hash: hashSecret(secret, pepper), hint: secretHint(secret) } },
    },
  });
  return secret;
}
