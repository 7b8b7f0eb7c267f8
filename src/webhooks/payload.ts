import { z } from 'zod';
import { type AuditRecord, Prisma } from '../../prisma/generated/client/client.ts';
import { AccessReason, ParkingEventKind, QuotaEnforcement } from '../../prisma/generated/client/enums.ts';
import { type AuditAction, isAuditAction, isWebhookEvent, type WebhookEvent } from '../audit/actions.ts';
import { weekdays } from '../whitelist/hours.ts';
import { mergeModes } from '../whitelist/import/rows.ts';
import { samples } from './samples.ts';

/**
 * The message type of a webhook test message, which a client can request. A webhook cannot subscribe to test messages.
 */
export const testMessageType = 'webhook.test';

/** All possible types of a webhook message. */
export type MessageType = WebhookEvent | typeof testMessageType;

/**
 * The data from which a webhook message is made: the type of the message and an audit record. The audit record
 * describes either a change of data or a client's request for a test message. `changes` contains the length of each
 * long list instead of the list (src/webhooks/message-changes.ts).
 */
export interface Message extends Pick<
  AuditRecord,
  'action' | 'companyId' | 'locationId' | 'targetId' | 'changes' | 'createdAt'
> {
  type: string;
}

/** The audit action for a request in which a client asks the gateway to send a test message. */
const testAction: AuditAction = 'webhook.tested';

/**
 * Creates the body of a webhook message from an audit record (Standard Webhooks, "Payload structure"). An audit record
 * never changes, so all attempts to deliver a webhook message send an identical body.
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
  return JSON.stringify({
    type,
    timestamp: createdAt,
    data: { companyId, locationId, targetId, changes },
  });
}

// The schemas of the webhook message bodies; the API reference shows these schemas. Receivers must accept unknown
// fields, because messages contain table columns, and later releases may add columns.

const instant = z.iso.datetime().meta({ description: 'An instant in UTC: `2026-11-21T08:00:00.000Z`.' });
const text = z.string();
const count = z.int().min(0);

/**
 * Creates the validation schema for a database row in an audit record. If `rules` contains no schema for a column, the
 * value of the column must be a text or null.
 */
const rowRule = <Column extends string>(
  columns: Readonly<Record<Column, string>>,
  rules: Partial<Record<Column, z.ZodType>>,
) =>
  z.object({
    ...Object.fromEntries(Object.keys(columns).map((column) => [column, text.nullable()])),
    ...rules,
  });

const version = z.int().min(1).optional().meta({
  description:
    'The version of the object, which increases by 1 with each change. Webhook messages from older releases of the gateway do not contain this field.',
});
/**
 * Makes the schema of a column optional, because webhook messages from older gateway releases do not contain the
 * column.
 */
const later = (rule: z.ZodType) => rule.nullable().optional();
const weeklyHours = z.object({
  days: z.array(z.enum(weekdays)),
  from: text.meta({ description: 'Local time of the location, such as `07:00`.' }),
  to: text.meta({
    description:
      'Local time, such as `19:00`. If `to` is earlier than `from`, the time span ends on the next day.',
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
    description:
      'The maximum stay of a vehicle in hours. Webhook messages from older releases of the gateway do not contain this field.',
  }),
  announcedFull: z.boolean().optional().meta({
    description:
      'Whether the location was full when the gateway last sent `location.full` or `location.available`. Webhook messages from older releases of the gateway do not contain this field.',
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
  referenceId: text.meta({
    description: 'The reference id of the vehicle that entered, such as the id of an apartment.',
  }),
  inside: count.meta({
    description:
      'The quota: the maximum number of vehicles with this reference id that may be inside at the same time.',
  }),
  enforcement: z.enum(QuotaEnforcement),
  used: count.meta({
    description:
      'The number of vehicles inside that have this reference id, including the vehicle that entered.',
  }),
  event: parkingEvent,
});

const parkingSession = rowRule(Prisma.ParkingSessionScalarFieldEnum, {
  id: text.meta({
    description:
      'The id of the parking session. If a parking event started the session, the session has the id of this event.',
  }),
  locationId: text,
  ...plate,
  enteredAt: instant.nullable(),
  exitedAt: instant.nullable(),
  endedAt: instant.nullable(),
  staysUntil: instant
    .nullable()
    .meta({ description: 'The time at which the maximum stay of the session ends.' }),
  countedAt: instant.nullable(),
  open: z.boolean(),
  corrected: z.boolean(),
  listed: z.boolean(),
});

const insideCounted = z.object({
  countedAt: instant,
  vehicles: count.meta({ description: 'The number of vehicles in the occupancy count.' }),
  opened: count.meta({
    description:
      'The number of sessions that `setInside` opened for counted vehicles without an open session.',
  }),
  corrected: count.meta({
    description:
      'The number of sessions that `setInside` ended because their vehicles were not in the occupancy count.',
  }),
});

const occupancyAdjusted = z.object({
  countedAt: instant,
  occupied: count.meta({ description: 'The number of vehicles inside, as a client reported it.' }),
});

const beforeAndAfter = (row: z.ZodType) => z.object({ before: row, after: row });

const capacityUse = z.object({
  capacity: count.nullable().meta({ description: 'The number of parking spaces.' }),
  occupied: count.meta({ description: 'The number of vehicles inside the location.' }),
});

const importCounts = z.object({
  mode: z.enum(mergeModes),
  created: count.optional().meta({ description: 'The number of new whitelist entries; omitted when 0.' }),
  updated: count.optional().meta({ description: 'The number of changed whitelist entries; omitted when 0.' }),
  deleted: count.optional().meta({ description: 'The number of removed whitelist entries; omitted when 0.' }),
});

const disabled = z.object({
  reason: z.enum(['GONE', 'FAILING']).meta({
    description:
      'Why the gateway disabled the webhook. GONE means that the receiver responded with status 410, and FAILING means that the receiver accepted no message for five days.',
  }),
  httpStatus: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the last response; null when the receiver did not respond.' }),
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
 * Returns the schema of the body of a webhook message of the given type. For the API reference, `z.toJSONSchema`
 * converts the Zod schema to JSON Schema. The test test/webhooks/payload.test.ts checks real webhook messages against
 * the schema.
 */
export const messageRule = (type: MessageType) =>
  z.object({
    type: z.literal(type),
    timestamp: instant,
    data: z.object({
      companyId: text.nullable().meta({
        description:
          'The id of the company of the changed object; null when the object belongs to no company.',
      }),
      locationId: text.nullable().meta({
        description:
          'The id of the location of the changed object; null when the object belongs to no location.',
      }),
      targetId: text.meta({ description: 'The id of the changed object.' }),
      sample: z.literal(true).optional().meta({
        description:
          'Present only in sample messages, which a client requests with `testWebhook`. A sample message reports no real change.',
      }),
      changes: changesRules[type].meta({
        description: 'The details of the change; after an update, the values before and after the change.',
      }),
    }),
  });
