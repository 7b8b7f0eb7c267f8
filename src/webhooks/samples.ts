import { Prisma } from '../../prisma/generated/client/client.ts';
import type { WebhookEvent } from '../audit/actions.ts';

// Sample messages help developers to build a receiver. test/webhooks/samples.test.ts checks the samples against the
// schemas of message bodies.

/** The content of a sample message, which describes a made-up change. */
interface Sample {
  locationId: string | null;
  targetId: string;
  changes: object;
}

const companyId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a10';
const locationId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a11';
const entryId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a12';
const eventId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a13';
const webhookId = '0199a1c2-7d4e-7c3a-9b51-2f6e8d0c4a14';
const [before, now] = ['2026-01-31T08:00:00.000Z', '2026-01-31T09:00:00.000Z'];

/** Creates a database row for a sample webhook message: a column that is not in `values` is null. */
const rowOf = <Column extends string>(
  columns: Readonly<Record<Column, string>>,
  values: Partial<Record<NoInfer<Column>, unknown>>,
) => ({ ...Object.fromEntries(Object.keys(columns).map((column) => [column, null])), ...values });

const times = { createdAt: before, updatedAt: before };
const changed = { updatedAt: now };
const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7001' };

const company = rowOf(Prisma.CompanyScalarFieldEnum, {
  id: companyId,
  name: 'Sample Parking',
  slug: 'sample-parking',
  address: 'Dubai',
  ...times,
});
const location = rowOf(Prisma.LocationScalarFieldEnum, {
  id: locationId,
  companyId,
  name: 'Sample Garage',
  slug: 'sample-garage',
  capacity: 120,
  timezone: 'Asia/Dubai',
  announcedFull: false,
  version: 1,
  ...times,
});
const entry = rowOf(Prisma.WhitelistEntryScalarFieldEnum, {
  id: entryId,
  locationId,
  referenceId: 'unit-1204',
  ...plate,
  vehicleType: 'sedan',
  version: 1,
  ...times,
});
const entered = rowOf(Prisma.ParkingEventScalarFieldEnum, {
  id: eventId,
  locationId,
  eventId: 'gate-1-42',
  kind: 'ENTRY',
  ...plate,
  occurredAt: now,
  decision: 'LISTED',
  listed: true,
  overQuota: false,
  ...times,
});
const session = rowOf(Prisma.ParkingSessionScalarFieldEnum, {
  id: eventId,
  locationId,
  ...plate,
  enteredAt: before,
  endedAt: now,
  staysUntil: now,
  open: false,
  corrected: false,
  listed: true,
});

const ofLocation = (targetId: string, changes: object): Sample => ({ locationId, targetId, changes });

/** The sample messages, one for each kind of webhook event. */
export const samples: Readonly<Record<WebhookEvent, Sample>> = {
  'company.registered': { locationId: null, targetId: companyId, changes: company },
  'company.updated': {
    locationId: null,
    targetId: companyId,
    changes: { before: company, after: { ...company, ...changed, phone: '+971 4 000 0000' } },
  },
  'location.created': ofLocation(locationId, location),
  'location.updated': ofLocation(locationId, {
    before: location,
    after: { ...location, ...changed, capacity: 140, version: 2 },
  }),
  'location.full': ofLocation(locationId, { capacity: 120, occupied: 120 }),
  'location.available': ofLocation(locationId, { capacity: 120, occupied: 119 }),
  'whitelist.created': ofLocation(entryId, entry),
  'whitelist.updated': ofLocation(entryId, {
    before: entry,
    after: { ...entry, ...changed, referenceId: 'unit-1205', version: 2 },
  }),
  'whitelist.deleted': ofLocation(entryId, entry),
  'whitelist.imported': ofLocation(locationId, { mode: 'UPSERT', created: 12, updated: 3 }),
  'quota.exceeded': ofLocation(eventId, {
    referenceId: 'unit-1204',
    inside: 2,
    enforcement: 'REPORT',
    used: 3,
    event: { ...entered, overQuota: true },
  }),
  'parking.entered': ofLocation(eventId, entered),
  'parking.exited': ofLocation(eventId, { ...entered, kind: 'EXIT', eventId: 'gate-2-43', decision: null }),
  'parking.exit_unseen': ofLocation(eventId, session),
  'parking.inside_counted': ofLocation(locationId, {
    countedAt: now,
    vehicles: 57,
    opened: 2,
    corrected: 1,
  }),
  'parking.occupancy_adjusted': ofLocation(locationId, { countedAt: now, occupied: 57 }),
  'webhook.disabled': {
    locationId: null,
    targetId: webhookId,
    changes: {
      reason: 'FAILING',
      httpStatus: 500,
      failingSince: before,
      url: 'https://example.com/hook',
    },
  },
};
