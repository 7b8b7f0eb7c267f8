import { newSecret, secretHint } from '../src/auth/key-secret.ts';
import { newId } from '../src/ids.ts';
import type { WebhookSecretBox } from '../src/webhooks/secret-box.ts';
import { Permission, type Environment } from './generated/client/enums.ts';
import type { Prisma, PrismaClient } from './generated/client/client.ts';
import {
  activityOf,
  type DemoGroup,
  type DemoStay,
  type DemoVehicle,
  endOfDay,
  rhythms,
  staysOf,
  usesOf,
  visitors,
} from './seed-activity.ts';
import { failingWebhook, usageTotals } from './seed-operations.ts';

/** The demo vehicles, each with a reference (such as a flat) and a plate of the United Arab Emirates. */
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

/**
 * The reference (a flat) that has a quota in the demo data. Three vehicles belong to the flat `unit-0510`, and its
 * quota allows two vehicles inside at the same time.
 */
const limitedUnit = 'unit-0510';

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

/** Creates a whitelist entry of the demo data. A field that the caller omits is null in this whitelist entry. */
function entry(
  locationId: string,
  referenceId: string,
  vehicleType: string,
  plate: string,
  rules: Pick<Prisma.WhitelistEntryCreateManyInput, 'validFrom' | 'validUntil' | 'maxEntries' | 'note'> = {},
) {
  const [plateType = '', plateCode = '', plateNumber = ''] = plate.split(' ');
  return { id: newId(), locationId, referenceId, vehicleType, plateType, plateCode, plateNumber, ...rules };
}

type DemoEntry = ReturnType<typeof entry>;

const vehicleOf = ({ id, plateType, plateCode, plateNumber }: DemoEntry): DemoVehicle => ({
  ...{ plateType, plateCode, plateNumber },
  entryId: id,
});

const dayMs = 86_400_000;
const minuteMs = 60_000;

/**
 * Creates the demo whitelist entries with special rules: a partly used visitor pass, guests for one day, and a former
 * tenant. These whitelist entries belong to the first location of the demo data.
 */
function ruleEntries(locationId: string, now: number) {
  const today = { validFrom: new Date(now - dayMs), validUntil: endOfDay(now) };
  return {
    pass: entry(locationId, 'visitor-0305', 'sedan', 'DXB P 4711', {
      maxEntries: 4,
      validUntil: new Date(now + 10 * dayMs),
      note: 'Visitor pass for four entries',
    }),
    guests: ['DXB H 20631', 'SHJ 2 7719', 'AUH 11 30450'].map((plate) =>
      entry(locationId, 'guest-0407', 'sedan', plate, { ...today, note: 'Guests of the day' }),
    ),
    former: entry(locationId, 'former-tenant', 'suv', 'RAK V 9934', {
      validUntil: new Date(now - dayMs),
      note: 'Moved out',
    }),
  };
}

/** Returns one list of vehicle groups for each location, in the order of the list `locations`. */
function groupsOf(vehicles: readonly (readonly DemoVehicle[])[]): DemoGroup[][] {
  const [marina = [], creek = [], corniche = []] = vehicles;
  return [
    [
      { vehicles: marina, rhythm: rhythms.resident, inside: marina.length - 9 },
      { vehicles: visitors(26, 31_005), rhythm: rhythms.visitor, inside: 19 },
    ],
    [
      // Only one of the 24 parking spaces of the second location is free. All residents and some visitors of this
      // location are inside.
      { vehicles: creek, rhythm: rhythms.resident, inside: creek.length },
      { vehicles: visitors(20, 52_210), rhythm: rhythms.visitor, inside: 23 - creek.length },
    ],
    [
      { vehicles: corniche, rhythm: rhythms.office, inside: 5 },
      { vehicles: visitors(8, 77_040), rhythm: rhythms.office, inside: 6 },
    ],
  ];
}

/**
 * The secret of the demo API key, and the id of a demo location. The gateway shows the secret of the demo API key only
 * when it starts for the first time, because the database stores only a hash of the secret.
 */
export interface DemoData {
  demoSecret: string;
  locationId: string;
}

/**
 * Fills an empty database with demo data. The demo data has a company with its locations and whitelists, a quota, two
 * API keys and a webhook. The demo parking events and usage totals are from the days before the gateway first started.
 */
export async function seedDemoData(
  prisma: PrismaClient,
  options: {
    environment: Environment;
    hashSecret: (secret: string) => string;
    webhookSecrets: WebhookSecretBox;
  },
): Promise<DemoData> {
  const { environment, hashSecret, webhookSecrets } = options;
  const now = Date.now();
  const companyId = newId();
  const demoSecret = newSecret(environment);
  const rows = locations.map((location) => ({ ...location, id: newId(), companyId, timezone: 'Asia/Dubai' }));
  const [marinaId] = rows.map(({ id }) => id) as [string, ...string[]];
  const residentEntries = rows.map(({ id }, position) =>
    residents
      .filter((_, index) => position === 0 || index % locations.length === position)
      .flatMap(([referenceId, vehicleType, ...plates]) =>
        plates.map((plate) => entry(id, referenceId, vehicleType, plate)),
      ),
  );
  const { pass, guests, former } = ruleEntries(marinaId, now);
  const entries = [...residentEntries.flat(), pass, ...guests, former];

  // At the first start of the gateway, the vehicles at the beginning of each vehicle list are inside. The vehicle list
  // of the first location begins with two vehicles of the flat `limitedUnit`, so the quota of this flat is full.
  const limited = residentEntries[0]!.filter(({ referenceId }) => referenceId === limitedUnit);
  const [first, second, ...third] = limited;
  const others = residentEntries[0]!.filter(({ referenceId }) => referenceId !== limitedUnit);
  const marinaOrder = [first!, second!, ...others, ...third];
  const ordered = [marinaOrder, ...residentEntries.slice(1)].map((each) => each.map(vehicleOf));
  const passStays = [2, 4].map((daysAgo): DemoStay => ({
    vehicle: vehicleOf(pass),
    enteredAt: now - daysAgo * dayMs,
    exitedAt: now - daysAgo * dayMs + 95 * minuteMs,
  }));
  const refused: DemoStay = {
    vehicle: vehicleOf(former),
    enteredAt: now - 48 * minuteMs,
    exitedAt: now - 44 * minuteMs,
    decision: 'EXPIRED',
  };
  const activity = groupsOf(ordered).map((groups, position) => {
    const extra = position === 0 ? [...passStays, refused] : [];
    return activityOf(rows[position]!.id, [...groups.flatMap((group) => staysOf(group, now)), ...extra], now);
  });
  const events = activity.flatMap((each) => each.events);

  const demoKeyId = newId();
  const portalKeyId = newId();
  // The demo data has a second API key, for a resident portal. The second API key only adds usage totals and audit
  // records to the demo data. No client needs its secret, so the gateway never shows this secret.
  const portalSecret = newSecret(environment);
  const lastUsedAt = new Date(now - 20 * minuteMs);
  const keyOf = (id: string, name: string, secret: string, permissions: Permission[]) =>
    prisma.apiKey.create({
      data: {
        ...{ id, name, environment, permissions, lastUsedAt },
        companies: { connect: { id: companyId } },
        secrets: { create: { id: newId(), hash: hashSecret(secret), hint: secretHint(secret) } },
      },
    });
  const { records, webhook, deliveries, attempts } = failingWebhook({
    ...{ companyId, apiKeyId: portalKeyId, entries: guests, secrets: webhookSecrets, now },
  });
  /**
   * Inserts many rows with one SQL statement. Prisma's method `createMany` is slower and would take one second for the
   * demo data. Each inserted row must have a value for every column of the table.
   */
  const insert = (table: Prisma.ModelName, rows: readonly object[]) =>
    prisma.$executeRawUnsafe(
      `INSERT INTO "${table}" SELECT * FROM jsonb_populate_recordset(NULL::"${table}", $1::jsonb)`,
      JSON.stringify(rows),
    );
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
    prisma.whitelistEntry.createMany({ data: entries }),
    keyOf(
      demoKeyId,
      'Demo',
      demoSecret,
      Object.values(Permission).filter((permission) => permission !== 'ADMIN'),
    ),
    keyOf(portalKeyId, 'Residents portal', portalSecret, [
      'READ_LOCATIONS',
      'READ_WHITELIST',
      'WRITE_WHITELIST',
    ]),
    insert('Quota', [
      {
        id: newId(),
        locationId: marinaId,
        referenceId: limitedUnit,
        inside: 2,
        enforcement: 'HARD',
        createdAt: lastUsedAt,
        updatedAt: lastUsedAt,
      },
    ]),
    insert('ParkingEvent', events),
    insert(
      'ParkingSession',
      activity.flatMap(({ sessions }) => sessions),
    ),
    insert('WhitelistEntryUse', usesOf(events)),
    insert('AuditRecord', records),
    insert('Webhook', [webhook]),
    insert('WebhookDelivery', deliveries),
    insert('WebhookAttempt', attempts),
    insert(
      'UsageTotal',
      usageTotals(
        [
          { apiKeyId: demoKeyId, surface: 'graphql', operation: 'query plateAccess', most: 64 },
          { apiKeyId: demoKeyId, surface: 'graphql', operation: 'mutation recordParkingEvent', most: 48 },
          {
            apiKeyId: portalKeyId,
            surface: 'rest',
            operation: 'GET /locations/{locationId}/residents',
            most: 18,
          },
          {
            apiKeyId: portalKeyId,
            surface: 'rest',
            operation: 'POST /locations/{locationId}/whitelist',
            most: 9,
            failsEvery: 4,
          },
        ],
        now,
      ),
    ),
  ]);
  return { demoSecret, locationId: marinaId };
}
