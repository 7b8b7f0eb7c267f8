import { z } from 'zod';
import { type AuditRecord, Prisma } from '../../prisma/generated/client/client.ts';
import { AccessReason, ParkingEventKind, QuotaEnforcement } from '../../prisma/generated/client/enums.ts';
import { type AuditAction, isAuditAction, isWebhookEvent, type WebhookEvent } from '../audit/actions.ts';
import { weekdays } from '../whitelist/hours.ts';
import { samples } from './samples.ts';

/** The type of the test message that a client can request. A webhook cannot subscribe to this type. */
export const testMessageType = 'webhook.test';

/** All possible types of a message. */
export type MessageType = WebhookEvent | typeof testMessageType;

/**
 * The data of a message: its type, and the audit record on which the message is based. The audit record describes a
 * change, or a client's request for a test message.
 */
export interface Message extends Pick<
  AuditRecord,
  'action' | 'companyId' | 'locationId' | 'targetId' | 'changes' | 'createdAt'
> {
  type: string;
}

/** The events whose audit record lists up to 10,000 identifiers of each kind in `changes`. */
const listingEvents: readonly string[] = [
  'whitelist.imported',
  'parking.inside_counted',
] satisfies WebhookEvent[];

/** Replaces each list in the changes of an audit record by its length. A message contains only the number of items. */
function withCounts(changes: object): object {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
}

/** The audit action of a client's request for a test message. */
const testAction: AuditAction = 'webhook.tested';

/**
 * Creates the body of a message (Standard Webhooks, "Payload structure"). All attempts send the same body, because
 * audit records never change.
 */
export function messageBody({ type, action, createdAt, companyId, ...change }: Message): string {
  const isSample = action === testAction && isAuditAction(type) && isWebhookEvent(type);
  if (isSample)
    return JSON.stringify({
      type,
      timestamp: createdAt,
      data: { companyId, ...samples[type], sample: true },
    });
  const { locationId, targetId, changes } = change;
  const isListing = listingEvents.includes(type) && typeof changes === 'object' && changes !== null;
  return JSON.stringify({
    type,
    timestamp: createdAt,
    data: { companyId, locationId, targetId, changes: isListing ? withCounts(changes) : changes },
  });
}

// The schemas of message bodies, which the API reference shows. Receivers must accept unknown fields, because later
// releases add columns.

const instant = z.iso.datetime().meta({ description: 'An instant in UTC: `2026-11-21T08:00:00.000Z`.' });
const text = z.string();
const count = z.int().min(0);

/**
 * Creates the schema of a table row as audit records contain it. A column is text or null unless `rules` has another
 * schema for it.
 */
const rowRule = <Column extends string>(
  columns: Readonly<Record<Column, string>>,
  rules: Partial<Record<Column, z.ZodType>>,
) =>
  z.object({
    ...Object.fromEntries(Object.keys(columns).map((column) => [column, text.nullable()])),
    ...rules,
  });

const version = z
  .int()
  .min(1)
  .optional()
  .meta({ description: 'Counts the changes; missing in messages of earlier releases.' });
/** Marks a column that this release has added. Messages about changes before this release do not have the column. */
const later = (rule: z.ZodType) => rule.nullable().optional();
const weeklyHours = z.object({
  days: z.array(z.enum(weekdays)),
  from: text.meta({ description: 'Local time of the location, such as `07:00`.' }),
  to: text.meta({
    description: 'Local time, such as `19:00`. On the next day if it is earlier than `from`.',
  }),
});
const times = { createdAt: instant, updatedAt: instant };
const plate = { plateType: text, plateCode: text, plateNumber: text };

const company = rowRule(Prisma.CompanyScalarFieldEnum, {
  id: text,
  name: text,
  slug: text,
  address: text,
  settings: z.record(z.string(), z.unknown()).nullable(),
  ...times,
});

const location = rowRule(Prisma.LocationScalarFieldEnum, {
  id: text,
  companyId: text,
  name: text,
  slug: text,
  capacity: count.nullable(),
  timezone: text,
  longestStayHours: count.nullable().optional().meta({
    description: 'The longest stay of a vehicle in hours; missing in messages of earlier releases.',
  }),
  announcedFull: z.boolean().optional().meta({
    description:
      'Whether the last message about its state was `location.full`; missing in messages of earlier releases.',
  }),
  version,
  ...times,
});

const whitelistEntry = rowRule(Prisma.WhitelistEntryScalarFieldEnum, {
  id: text,
  locationId: text,
  referenceId: text,
  ...plate,
  validFrom: instant.nullable(),
  validUntil: instant.nullable(),
  hours: later(z.array(weeklyHours)),
  maxEntries: later(count),
  version,
  ...times,
});

const parkingEvent = rowRule(Prisma.ParkingEventScalarFieldEnum, {
  id: text,
  locationId: text,
  eventId: text,
  kind: z.enum(ParkingEventKind),
  ...plate,
  text: later(text),
  confidence: later(z.number()),
  occurredAt: instant,
  decision: z.enum(AccessReason).nullable(),
  listed: z.boolean(),
  overQuota: z.boolean().optional(),
  ...times,
});

const exceededQuota = z.object({
  referenceId: text.meta({ description: 'The reference of the vehicle that entered.' }),
  inside: count.meta({ description: 'The number of vehicles that may be inside.' }),
  enforcement: z.enum(QuotaEnforcement),
  used: count.meta({ description: 'The number of vehicles inside, including the vehicle that entered.' }),
  event: parkingEvent,
});

const parkingSession = rowRule(Prisma.ParkingSessionScalarFieldEnum, {
  id: text.meta({ description: 'The id of the event that starts the session.' }),
  locationId: text,
  ...plate,
  enteredAt: instant.nullable(),
  exitedAt: instant.nullable(),
  endedAt: instant.nullable(),
  staysUntil: instant.nullable().meta({ description: 'When the longest stay was over.' }),
  countedAt: instant.nullable(),
  open: z.boolean(),
  corrected: z.boolean(),
  listed: z.boolean(),
});

const insideCounted = z.object({
  countedAt: instant,
  vehicles: count.meta({ description: 'The number of vehicles that were counted.' }),
  opened: count.meta({
    description:
      'The number of counted vehicles that had no open session before. A session was opened for each.',
  }),
  corrected: count.meta({
    description:
      'The number of open sessions that were ended, because the count did not include their vehicle.',
  }),
});

const occupancyAdjusted = z.object({
  countedAt: instant,
  occupied: count.meta({ description: 'The number of vehicles inside.' }),
});

const beforeAndAfter = (row: z.ZodType) => z.object({ before: row, after: row });

const capacityUse = z.object({
  capacity: count.nullable().meta({ description: 'The number of parking spaces.' }),
  occupied: count.meta({ description: 'The number of vehicles inside.' }),
});

const importCounts = z.object({
  mode: z.enum(['CREATE', 'UPSERT', 'REPLACE']),
  created: count.optional().meta({ description: 'The number of new entries; omitted when 0.' }),
  updated: count.optional().meta({ description: 'The number of changed entries; omitted when 0.' }),
  deleted: count.optional().meta({ description: 'The number of removed entries; omitted when 0.' }),
});

const disabled = z.object({
  reason: z.enum(['GONE', 'FAILING']).meta({
    description: 'GONE: the receiver answered 410. FAILING: it accepted nothing for five days.',
  }),
  httpStatus: z
    .int()
    .nullable()
    .meta({ description: 'The status of the last response; null when there was none.' }),
  failingSince: instant,
  url: text.nullable().meta({ description: 'The URL of the receiver; null for pull delivery.' }),
});

/** The schema of `data.changes` for each message type. */
const changesRules = {
  'company.registered': company,
  'company.updated': beforeAndAfter(company),
  'location.created': location,
  'location.updated': beforeAndAfter(location),
  'location.full': capacityUse,
  'location.available': capacityUse,
  'whitelist.created': whitelistEntry,
  'whitelist.updated': beforeAndAfter(whitelistEntry),
  'whitelist.deleted': whitelistEntry,
  'whitelist.imported': importCounts,
  'quota.exceeded': exceededQuota,
  'parking.entered': z.union([parkingEvent, beforeAndAfter(parkingEvent)]),
  'parking.exited': z.union([parkingEvent, beforeAndAfter(parkingEvent)]),
  'parking.exit_unseen': parkingSession,
  'parking.inside_counted': insideCounted,
  'parking.occupancy_adjusted': occupancyAdjusted,
  'webhook.disabled': disabled,
  [testMessageType]: z.null(),
} satisfies Record<MessageType, z.ZodType>;

/** All message types. */
export const messageTypes = Object.keys(changesRules) as MessageType[];

/**
 * Returns the schema of the body for a type of message. `z.toJSONSchema` converts it to JSON Schema for the reference.
 * test/webhooks/payload.test.ts checks real messages against it.
 */
export const messageRule = (type: MessageType) =>
  z.object({
    type: z.literal(type),
    timestamp: instant,
    data: z.object({
      companyId: text.nullable().meta({ description: 'The company that the change belongs to.' }),
      locationId: text.nullable().meta({ description: 'The location that the change belongs to.' }),
      targetId: text.meta({ description: 'The id of the changed object.' }),
      sample: z.literal(true).optional().meta({
        description: 'Only in samples, which a client requests with `testWebhook`; nothing changed.',
      }),
      changes: changesRules[type].meta({
        description: 'The values after the change, or before and after it.',
      }),
    }),
  });
