import { z } from 'zod';
import { type AuditRecord, Prisma } from '../../prisma/generated/client/client.ts';
import { AccessReason, ParkingEventKind, QuotaEnforcement } from '../../prisma/generated/client/enums.ts';
import type { WebhookEvent } from '../audit/actions.ts';
import { weekdays } from '../whitelist/hours.ts';

/** The type of the message that a client asks for to test a webhook; no webhook can wait for it. */
export const testMessageType = 'webhook.test';

/** What the type of a message can be. */
export type MessageType = WebhookEvent | typeof testMessageType;

/** What a message is made of: its type, and the audit record of the change. */
export interface Message extends Pick<
  AuditRecord,
  'companyId' | 'locationId' | 'targetId' | 'changes' | 'createdAt'
> {
  type: string;
}

/** Changes that list up to 10,000 identifiers of each kind. */
const listingEvents: readonly string[] = [
  'whitelist.imported',
  'parking.inside_counted',
] satisfies WebhookEvent[];

/** Lists as their lengths: a message tells how many. */
function withCounts(changes: object): object {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
}

/**
 * The body of a message (Standard Webhooks, "Payload structure"). It is the same at every attempt, since audit records
 * do not change.
 */
export function messageBody({ type, companyId, locationId, targetId, changes, createdAt }: Message): string {
  const isListing = listingEvents.includes(type) && typeof changes === 'object' && changes !== null;
  return JSON.stringify({
    type,
    timestamp: createdAt,
    data: { companyId, locationId, targetId, changes: isListing ? withCounts(changes) : changes },
  });
}

// The rules of the bodies, for the reference. A receiver must expect further fields: columns that come later.

const instant = z.iso.datetime().meta({ description: 'An instant in UTC: `2026-11-21T08:00:00.000Z`.' });
const text = z.string();
const count = z.int().min(0);

/** A row of a table as an audit record has it: a column is text or null where `rules` does not say otherwise. */
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
/** A column of this release: messages of earlier ones do not have it. */
const later = (rule: z.ZodType) => rule.nullable().optional();
const weeklyHours = z.object({
  days: z.array(z.enum(weekdays)),
  from: text.meta({ description: 'Such as `07:00`, by the clocks of the location.' }),
  to: text.meta({ description: 'Such as `19:00`; earlier than `from`: on the next day.' }),
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
    description: 'How long a vehicle stays at the most; missing in messages of earlier releases.',
  }),
  announcedFull: z.boolean().optional().meta({
    description:
      'Whether the last message of its state was `location.full`; missing in messages of earlier releases.',
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
  referenceId: text.meta({ description: 'Whose vehicle entered.' }),
  inside: count.meta({ description: 'How many vehicles may be inside.' }),
  enforcement: z.enum(QuotaEnforcement),
  used: count.meta({ description: 'How many are inside, with the one that entered.' }),
  event: parkingEvent,
});

const parkingSession = rowRule(Prisma.ParkingSessionScalarFieldEnum, {
  id: text.meta({ description: 'That of the event that starts the session.' }),
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
  vehicles: count.meta({ description: 'How many vehicles were counted.' }),
  opened: count.meta({ description: 'How many of them nobody had seen enter.' }),
  corrected: count.meta({ description: 'How many vehicles were not found.' }),
});

const occupancyAdjusted = z.object({
  countedAt: instant,
  occupied: count.meta({ description: 'How many vehicles were inside.' }),
});

const beforeAndAfter = (row: z.ZodType) => z.object({ before: row, after: row });

const room = z.object({
  capacity: count.nullable().meta({ description: 'How many vehicles fit.' }),
  occupied: count.meta({ description: 'How many vehicles are inside.' }),
});

const importCounts = z.object({
  mode: z.enum(['CREATE', 'UPSERT', 'REPLACE']),
  created: count.optional().meta({ description: 'How many entries are new; missing when none.' }),
  updated: count.optional().meta({ description: 'How many entries changed; missing when none.' }),
  deleted: count.optional().meta({ description: 'How many entries were removed; missing when none.' }),
});

const disabled = z.object({
  reason: z.enum(['GONE', 'FAILING']).meta({
    description: 'GONE: the receiver answered 410. FAILING: it accepted nothing for five days.',
  }),
  httpStatus: z.int().nullable().meta({ description: 'The last answer; null when there was none.' }),
  failingSince: instant,
  url: text,
});

/** What `data.changes` of each type says. */
const changesRules = {
  'company.registered': company,
  'company.updated': beforeAndAfter(company),
  'location.created': location,
  'location.updated': beforeAndAfter(location),
  'location.full': room,
  'location.available': room,
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

/** Every type of message. */
export const messageTypes = Object.keys(changesRules) as MessageType[];

/**
 * The rule of the body of a message of a type. `z.toJSONSchema` makes the JSON Schema of it for the reference;
 * test/webhook-payload.test.ts holds real messages to it.
 */
export const messageRule = (type: MessageType) =>
  z.object({
    type: z.literal(type),
    timestamp: instant,
    data: z.object({
      companyId: text.nullable().meta({ description: 'The company that the change belongs to.' }),
      locationId: text.nullable().meta({ description: 'The location that the change belongs to.' }),
      targetId: text.meta({ description: 'What changed.' }),
      changes: changesRules[type].meta({
        description: 'The values after the change, or before and after it.',
      }),
    }),
  });
