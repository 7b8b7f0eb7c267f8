import { newSecret, secretHint } from '../src/auth/key-secret.ts';
import { newId } from '../src/ids.ts';
import { Permission, type Environment } from './generated/client/enums.ts';
import type { PrismaClient } from './generated/client/client.ts';

/** Demo vehicles: who they belong to, and plates as they are seen in the Emirates. */
const residents: readonly (readonly [referenceId: string, vehicleType: string, ...plates: string[]])[] = [
  ['unit-0101', 'sedan', 'DXB A 7', 'DXB White 4521'],
  ['unit-0102', 'suv', 'AUH 17 70012'],
  ['unit-0203', 'sedan', 'SHJ 3 48213', 'DXB K 61902'],
  ['unit-0204', 'suv', 'AJM K 3340'],
  ['unit-0305', 'pickup', 'RAK V 2207', 'DXB T 90417'],
  ['unit-0306', 'sedan', 'FUJ P 60451'],
  ['unit-0407', 'suv', 'DXB CC 28816', 'AUH 5 1123'],
  ['unit-0408', 'motorcycle', 'DXB 9 55120'],
  ['unit-0509', 'sedan', 'UAQ D 7781'],
  ['unit-0510', 'suv', 'DXB M 12345', 'DXB N 12346', 'SHJ 2 90018'],
  ['fleet-falcon', 'van', 'DXB R 30071', 'DXB R 30072', 'DXB R 30073', 'DXB R 30074'],
  ['fleet-oasis', 'truck', 'AUH 50 88210', 'AUH 50 88211', 'AUH 50 88212'],
  ['staff', 'sedan', 'DXB Q 77120', 'AJM B 20456', 'SHJ 1 6060', 'DXB White 19800'],
];

const locations = [
  { name: 'Marina Gate Tower', slug: 'marina-gate', address: 'Dubai Marina, Dubai', capacity: 120 },
  {
    name: 'Creek Harbour Residences',
    slug: 'creek-harbour',
    address: 'Dubai Creek Harbour, Dubai',
    capacity: 24,
  },
  {
    name: 'Corniche Office Park',
    slug: 'corniche-office',
    address: 'Corniche Street, Abu Dhabi',
    capacity: null,
  },
];

function entry(locationId: string, referenceId: string, vehicleType: string, plate: string) {
  const [plateType = '', plateCode = '', plateNumber = ''] = plate.split(' ');
  return { id: newId(), locationId, referenceId, vehicleType, plateType, plateCode, plateNumber };
}

/** What the first start shows: secrets that are stored nowhere. */
export interface DemoData {
  demoSecret: string;
  locationId: string;
}

/** Fills an empty database with a company, its locations, their whitelists, and a key for all of it. */
export async function seedDemoData(
  prisma: PrismaClient,
  { environment, hashSecret }: { environment: Environment; hashSecret: (secret: string) => string },
): Promise<DemoData> {
  const companyId = newId();
  const demoSecret = newSecret(environment);
  const rows = locations.map((location) => ({ ...location, id: newId(), companyId, timezone: 'Asia/Dubai' }));
  await prisma.$transaction([
    prisma.company.create({
      data: {
        id: companyId,
        name: 'Gulf Parking (Demo)',
        slug: 'gulf-parking-demo',
        address: 'Sheikh Zayed Road, Dubai',
        email: 'operations@gulf-parking.example',
        website: 'https://gulf-parking.example',
      },
    }),
    prisma.location.createMany({ data: rows }),
    prisma.whitelistEntry.createMany({
      data: rows.flatMap(({ id }, position) =>
        residents
          .filter((_, index) => position === 0 || index % locations.length === position)
          .flatMap(([referenceId, vehicleType, ...plates]) =>
            plates.map((plate) => entry(id, referenceId, vehicleType, plate)),
          ),
      ),
    }),
    prisma.apiKey.create({
      data: {
        id: newId(),
        name: 'Demo',
        environment,
        permissions: Object.values(Permission).filter((permission) => permission !== 'ADMIN'),
        companies: { connect: { id: companyId } },
        secrets: { create: { id: newId(), hash: hashSecret(demoSecret), hint: secretHint(demoSecret) } },
      },
    }),
  ]);
  return { demoSecret, locationId: rows[0]!.id };
}
