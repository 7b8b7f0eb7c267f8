import type { Permission } from '../../prisma/generated/client/enums.ts';

/** Describes one kind of change that the gateway records, such as the creation of a company. */
interface ActionRule {
  /** A text for the API reference that describes this kind of change. */
  description: string;
  /** The permission that an API key needs to read the content of the recorded change. */
  readPermission: Permission;
  /** Whether webhooks can subscribe to this kind of change. */
  isWebhookEvent: boolean;
}

/**
 * The list of all kinds of changes that the gateway records. Audit records, webhook events, the GraphQL enum
 * `WebhookEvent` and hand-written SQL use the names in `auditActions`. The test test/storage/audit-actions.test.ts
 * checks that the code, the SQL and the GraphQL enum use only the names in `auditActions`.
 */
export const auditActions = {
  'company.registered': {
    description:
      'A company was registered. The gateway sends this event only to webhooks that belong to no company.',
    readPermission: 'READ_COMPANIES',
    isWebhookEvent: true,
  },
  'company.updated': {
    description: 'A company was changed.',
    readPermission: 'READ_COMPANIES',
    isWebhookEvent: true,
  },
  'location.created': {
    description: 'A location was created.',
    readPermission: 'READ_LOCATIONS',
    isWebhookEvent: true,
  },
  'location.updated': {
    description: 'A location was changed.',
    readPermission: 'READ_LOCATIONS',
    isWebhookEvent: true,
  },
  'location.full': {
    description: 'The last parking space of a location was taken.',
    readPermission: 'READ_STATUS',
    isWebhookEvent: true,
  },
  'location.available': {
    description: 'A full location has free parking spaces again.',
    readPermission: 'READ_STATUS',
    isWebhookEvent: true,
  },
  'whitelist.created': {
    description: 'A vehicle was added to a whitelist.',
    readPermission: 'READ_WHITELIST',
    isWebhookEvent: true,
  },
  'whitelist.updated': {
    description: 'A whitelist entry was replaced.',
    readPermission: 'READ_WHITELIST',
    isWebhookEvent: true,
  },
  'whitelist.deleted': {
    description: 'A vehicle was removed from a whitelist.',
    readPermission: 'READ_WHITELIST',
    isWebhookEvent: true,
  },
  'whitelist.imported': {
    description:
      'An import changed a whitelist. The webhook message contains the numbers of new, changed and removed whitelist entries.',
    readPermission: 'READ_WHITELIST',
    isWebhookEvent: true,
  },
  'quota.set': {
    description: 'Quotas of a location were set or removed.',
    readPermission: 'READ_WHITELIST',
    isWebhookEvent: false,
  },
  'quota.exceeded': {
    description:
      'A vehicle entered, and its reference (such as an apartment) now has more vehicles inside than the quota allows.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'parking.entered': {
    description: 'A vehicle entered, or the record of an entry was corrected.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'parking.exited': {
    description: 'A vehicle left, or the record of an exit was corrected.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'parking.exit_unseen': {
    description: 'The maximum stay of a vehicle is over, and no gate recorded its exit.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'parking.inside_counted': {
    description:
      'A person counted the vehicles inside a location. The webhook message contains the numbers of opened and corrected parking sessions.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'parking.occupancy_adjusted': {
    description: 'A person corrected the number of vehicles inside a location.',
    readPermission: 'READ_ACTIVITY',
    isWebhookEvent: true,
  },
  'api_key.created': {
    description: 'An API key was created.',
    readPermission: 'ADMIN',
    isWebhookEvent: false,
  },
  'api_key.updated': {
    description: 'The name, permissions, scope, limits or expiry of an API key were changed.',
    readPermission: 'ADMIN',
    isWebhookEvent: false,
  },
  'api_key.rotated': {
    description: 'An API key got a new secret.',
    readPermission: 'ADMIN',
    isWebhookEvent: false,
  },
  'api_key.revoked': {
    description: 'An API key was revoked.',
    readPermission: 'ADMIN',
    isWebhookEvent: false,
  },
  'webhook.created': {
    description: 'A webhook was created.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.updated': {
    description: 'A webhook was changed.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.deleted': {
    description: 'A webhook was deleted.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.rotated': {
    description: 'A webhook got a new secret.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.tested': {
    description: 'The gateway sent a test message to a webhook.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.redelivered': {
    description: 'The gateway sent a message to a webhook again.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.recovered': {
    description: 'The gateway resent the messages that the receiver of a webhook had not accepted.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: false,
  },
  'webhook.disabled': {
    description:
      'The gateway disabled a webhook, because its receiver answered 410 Gone or accepted no message for five days. The gateway sends this event to the other webhooks of the company.',
    readPermission: 'MANAGE_WEBHOOKS',
    isWebhookEvent: true,
  },
} as const satisfies Record<string, ActionRule>;

/** The name of a kind of recorded change, such as `company.registered`. */
export type AuditAction = keyof typeof auditActions;

/** The name of a webhook event: a kind of recorded change to which webhooks can subscribe. */
export type WebhookEvent = {
  [Action in AuditAction]: (typeof auditActions)[Action]['isWebhookEvent'] extends true ? Action : never;
}[AuditAction];

/** Whether a text is the name of an audit action. */
export const isAuditAction = (name: string): name is AuditAction => Object.hasOwn(auditActions, name);

/**
 * Whether an API key with the given permissions may read the content of a recorded change. Another version of the
 * gateway may have recorded a kind of change that this version does not know. If this version of the gateway does not
 * know the kind of a change, no API key may read the content of the change.
 */
export const mayReadChanges = (permissions: ReadonlySet<Permission>, action: string): boolean =>
  isAuditAction(action) && permissions.has(auditActions[action].readPermission);

/** Whether webhooks can subscribe to an audit action, such as `company.updated`. */
export const isWebhookEvent = (action: AuditAction): action is WebhookEvent =>
  auditActions[action].isWebhookEvent;

/** Returns the name of an audit action as a GraphQL enum value, such as `COMPANY_REGISTERED`. */
export const enumName = (action: AuditAction) => action.toUpperCase().replaceAll('.', '_');

/** The names of the kinds of changes to which webhooks can subscribe, in the order of `auditActions`. */
export const webhookEvents: readonly WebhookEvent[] = Object.keys(auditActions)
  .filter(isAuditAction)
  .filter(isWebhookEvent);
