/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** The reason why the gateway allows or denies entry to a vehicle. */
export const AccessReason = {
  /** The whitelist entry of the plate is no longer valid. */
  EXPIRED: 'EXPIRED',
  /** The plate is in the whitelist, and no rule denies entry. */
  LISTED: 'LISTED',
  /** The plate is not in the whitelist. */
  NOT_LISTED: 'NOT_LISTED',
  /** The plate has a whitelist entry, but the validity period of this entry has not started yet. */
  NOT_YET_VALID: 'NOT_YET_VALID',
  /** The time of the decision is outside the weekly hours of the whitelist entry. */
  OUTSIDE_HOURS: 'OUTSIDE_HOURS',
  /** The quota of the vehicle's reference (such as an apartment) is full, so no other vehicle of this reference may enter. */
  QUOTA_REACHED: 'QUOTA_REACHED',
  /** The vehicle has already entered as often as `maxEntries` allows. */
  USED_UP: 'USED_UP'
} as const;

export type AccessReason = typeof AccessReason[keyof typeof AccessReason];
/** The values of a new API key. The scope of the new API key consists of the given companies and locations. An API key without companies and locations has access to no data until it registers a company. Only an operator's key can issue an API key without companies and locations. */
export type CreateApiKeyInput = {
  /** Number of rate limit points that the API key may use in a minute. Default: 100, but at most the limit of the API key that the client uses for the request. */
  burstLimit?: number | null | undefined;
  /** Companies for the scope of the API key, with all their locations. */
  companyIds?: Array<string> | null | undefined;
  /** The time at which the API key expires. Default: the expiry of the API key that the client uses for the request. */
  expiresAt?: string | Date | null | undefined;
  /** Number of rate limit points that the API key may use in an hour. Default: 1000, but at most the limit of the API key that the client uses for the request. */
  hourlyLimit?: number | null | undefined;
  /** Single locations for the scope of the API key. */
  locationIds?: Array<string> | null | undefined;
  /** A name by which people recognise the API key: 1 to 100 characters. */
  name: string;
  /** The permissions of the API key. */
  permissions: Array<Permission>;
  /** Whether to issue an operator's key, whose scope is every company and location. Only an operator's key may issue another operator's key. For an operator's key, omit `companyIds` and `locationIds`. */
  unrestricted?: boolean | null | undefined;
};

/** A location to create. */
export type CreateLocationInput = {
  /** At most 200 characters. */
  address?: string | null | undefined;
  /** Number of parking spaces, 0 or more; null when unknown. */
  capacity?: number | null | undefined;
  /** The company that will own the new location. The client may omit `companyId` when exactly one company is in the scope of the API key. */
  companyId?: string | null | undefined;
  /** At most 500 characters. */
  description?: string | null | undefined;
  /** The maximum stay of a vehicle, 1 to 87600 hours; null for no limit. */
  longestStayHours?: number | null | undefined;
  /** 1 to 100 characters, at least one of them not white space. */
  name: string;
  /** 1 to 50 characters: lowercase letters, digits and single hyphens between them. Unique within the company. */
  slug: string;
  /** IANA name of the time zone of the location. Default: `UTC`. */
  timezone?: string | null | undefined;
};

/** The values of a new webhook. */
export type CreateWebhookInput = {
  /** The company that owns the webhook. You can omit `companyId` when exactly one company is in the scope of the API key. If a client with an operator's key omits `companyId`, the webhook receives the events of every company. */
  companyId?: string | null | undefined;
  /** How the receiver gets webhook messages. */
  delivery?: WebhookDeliveryKind | null | undefined;
  /** The events that the receiver gets. Fails with `FORBIDDEN` unless the API key may read all of the given events. */
  events: Array<WebhookEvent>;
  /** The locations of the company whose events the webhook receives, at most 100. If this list is empty, the webhook receives the events of all locations. The webhook always receives events that belong to no location. */
  locationIds?: Array<string> | null | undefined;
  /** Required for push delivery, not allowed for pull delivery. An https URL on the public Internet, at most 2000 characters, without user name and password. */
  url?: string | null | undefined;
};

/** Each row of an import contains the data of one whitelist entry. The import mode determines what the import does in two cases: a row has a plate that is already in the whitelist, or a whitelist entry has a plate that no row has. */
export const ImportMode = {
  /** Only adds whitelist entries. The gateway rejects a row whose plate is already in the whitelist. */
  CREATE: 'CREATE',
  /** Replaces the whole whitelist with the rows of the import, in one transaction. If the gateway rejects a row, the whitelist stays unchanged, and `created`, `updated`, `unchanged` and `deleted` are 0. */
  REPLACE: 'REPLACE',
  /** Adds whitelist entries. If the plate of a row is already in the whitelist, the row replaces the values of the existing whitelist entry. */
  UPSERT: 'UPSERT'
} as const;

export type ImportMode = typeof ImportMode[keyof typeof ImportMode];
/** Whether a location has free spaces. */
export const LocationState = {
  /** At least one parking space of the location is free. */
  AVAILABLE: 'AVAILABLE',
  /** Every space is taken. */
  FULL: 'FULL',
  /** The capacity is unknown. */
  UNKNOWN: 'UNKNOWN'
} as const;

export type LocationState = typeof LocationState[keyof typeof LocationState];
/** The entry or exit of a vehicle, which the gateway should record. */
export type ParkingEventInput = {
  /** The gate decision that `plateAccess` returned, if the gate requested a decision. */
  decision?: AccessReason | null | undefined;
  /** The whitelist entry for which the gate opened. If the camera misread a character, the plate of this whitelist entry differs from the plate of the parking event. If `entryId` is omitted, or the location has no such whitelist entry, the gateway uses the whitelist entry with the plate of the parking event. */
  entryId?: string | null | undefined;
  /** The identifier that the gate gave to the parking event, unique within the location, 1 to 100 characters. If the gate sends the same parking event again, nothing changes. If the gate sends other values with the same identifier, the gateway corrects the recorded parking event with these values. */
  eventId: string;
  /** Entry or exit. */
  kind: ParkingEventKind;
  /** The time at which the vehicle entered or left. Parking events may arrive late and in any order. `occurredAt` may be at most one day in the future. */
  occurredAt: string | Date;
  /** The plate in parts. Every parking event must have either `plate` or `reading`, but not both. */
  plate?: PlateInput | null | undefined;
  /** The text that the camera read. The gateway assigns the parking event to the whitelist entry that matches the camera text. If the camera text matches no whitelist entry or more than one whitelist entry, the gateway records the parking event without a whitelist entry. */
  reading?: ReadingInput | null | undefined;
};

/** Whether a vehicle entered or left. */
export const ParkingEventKind = {
  /** The vehicle entered. */
  ENTRY: 'ENTRY',
  /** The vehicle left. */
  EXIT: 'EXIT'
} as const;

export type ParkingEventKind = typeof ParkingEventKind[keyof typeof ParkingEventKind];
/** A permission, which allows an API key to use certain operations. */
export const Permission = {
  /** Manage API keys and read the audit log. */
  ADMIN: 'ADMIN',
  /** Manage the webhooks of a company. */
  MANAGE_WEBHOOKS: 'MANAGE_WEBHOOKS',
  /** Read parking events and sessions. */
  READ_ACTIVITY: 'READ_ACTIVITY',
  /** Read companies. */
  READ_COMPANIES: 'READ_COMPANIES',
  /** Read locations. */
  READ_LOCATIONS: 'READ_LOCATIONS',
  /** Read the status of locations: occupancy and capacity. */
  READ_STATUS: 'READ_STATUS',
  /** Read whitelists, and ask whether a vehicle may enter. */
  READ_WHITELIST: 'READ_WHITELIST',
  /** Pull webhook messages, and acknowledge the pulled messages. */
  RECEIVE_WEBHOOKS: 'RECEIVE_WEBHOOKS',
  /** Register companies. */
  REGISTER_COMPANIES: 'REGISTER_COMPANIES',
  /** Record parking events. */
  WRITE_ACTIVITY: 'WRITE_ACTIVITY',
  /** Change companies. */
  WRITE_COMPANIES: 'WRITE_COMPANIES',
  /** Create and change locations. */
  WRITE_LOCATIONS: 'WRITE_LOCATIONS',
  /** Create, change, delete and import whitelist entries. */
  WRITE_WHITELIST: 'WRITE_WHITELIST'
} as const;

export type Permission = typeof Permission[keyof typeof Permission];
/** A licence plate with its type, code and number. In `plateAccess`, a whitelist entry matches only if its plate has the same type, code and number, unless the request sets a tolerance. */
export type PlateInput = {
  /** Code of the plate: `White`, or 1 to 3 letters or digits. */
  plateCode: string;
  /** Number of the plate: 1 to 20 digits. */
  plateNumber: string;
  /** The authority or region that issued the plate, such as `DXB`. */
  plateType: string;
};

/** What the gateway does when a vehicle wants to enter although the quota of its reference (such as an apartment) is full. */
export const QuotaEnforcement = {
  /** When the quota is full, `plateAccess` denies entry with the reason `QUOTA_REACHED`. */
  HARD: 'HARD',
  /** When the quota is full, `plateAccess` still allows entry, and sets `overQuota`. */
  REPORT: 'REPORT'
} as const;

export type QuotaEnforcement = typeof QuotaEnforcement[keyof typeof QuotaEnforcement];
/** A quota to set. */
export type QuotaInput = {
  /** What happens when the quota is full. Default: `HARD`. */
  enforcement?: QuotaEnforcement | null | undefined;
  /** How many vehicles of the reference may be inside at the same time, 0 or more; null or an omitted value removes the quota. */
  inside?: number | null | undefined;
  /** The reference id of whitelist entries, 1 to 100 characters. */
  referenceId: string;
};

/** The text that a camera read from a licence plate. A client can send this camera text instead of the type, code and number of a plate. Before the gateway compares the camera text with the whitelist, it removes spaces, dashes and dots from the text. The gateway also converts the letters of the text to capital letters, and Arabic-Indic digits to ASCII digits (NFKC). A whitelist entry matches when the camera text consists of the plate code and the plate number of the entry. The camera text may also contain the plate type before the plate code. */
export type ReadingInput = {
  /** At most 10 other texts that, according to the camera, may be on the plate. The gateway uses these alternatives only when no whitelist entry matches `text`. */
  alternatives?: Array<string> | null | undefined;
  /** How confident the camera is that it read the plate correctly, from 0 to 1. */
  confidence?: number | null | undefined;
  /** The plate type, if the camera recognised it. If a client sends the plate type, the camera text matches only whitelist entries with this plate type. */
  plateType?: string | null | undefined;
  /** The text as the camera sent it, such as `A 12345`: at most 50 characters. */
  text: string;
};

/** A company to register. */
export type RegisterCompanyInput = {
  /** 1 to 200 characters, at least one of them not white space. */
  address: string;
  /** At most 500 characters. */
  description?: string | null | undefined;
  /** A valid e-mail address, or empty. */
  email?: string | null | undefined;
  /** The client's own identifier of the company, at most 50 characters. */
  externalCompanyId?: string | null | undefined;
  /** A valid http or https URL without white space, or empty. */
  logo?: string | null | undefined;
  /** 1 to 100 characters: letters and digits of any script, spaces and - & . , ( ). */
  name: string;
  /** At most 20 characters. */
  phone?: string | null | undefined;
  /** Any JSON object with at most 10 nesting levels and 16 KiB. */
  settings?: unknown;
  /** 1 to 50 characters: lowercase letters, digits and single hyphens between them. Unique among all companies. */
  slug: string;
  /** A valid http or https URL without white space, or empty. */
  website?: string | null | undefined;
};

/** The new values for some fields of an API key. A field that is omitted or null stays unchanged. As an exception, `expiresAt: null` means that the API key never expires. */
export type UpdateApiKeyInput = {
  /** Number of rate limit points that the API key may use in a minute. */
  burstLimit?: number | null | undefined;
  /** Companies for the scope of the API key, with all their locations. These companies replace all companies that the scope of the API key lists now. */
  companyIds?: Array<string> | null | undefined;
  /** The time at which the API key expires; with null, it never expires. */
  expiresAt?: string | Date | null | undefined;
  /** Number of rate limit points that the API key may use in an hour. */
  hourlyLimit?: number | null | undefined;
  /** Single locations for the scope of the API key. These locations replace all locations that the scope of the API key lists now. */
  locationIds?: Array<string> | null | undefined;
  /** A name by which people recognise the API key: 1 to 100 characters. */
  name?: string | null | undefined;
  /** The permissions of the API key. */
  permissions?: Array<Permission> | null | undefined;
};

/** The new values for some fields of a company. Omitted fields are unchanged. The slug cannot be changed. */
export type UpdateCompanyInput = {
  /** 1 to 200 characters, at least one of them not white space. */
  address?: string | null | undefined;
  /** At most 500 characters. */
  description?: string | null | undefined;
  /** A valid e-mail address, or empty. */
  email?: string | null | undefined;
  /** The client's own identifier of the company, at most 50 characters. */
  externalCompanyId?: string | null | undefined;
  /** A valid http or https URL without white space, or empty. */
  logo?: string | null | undefined;
  /** 1 to 100 characters: letters and digits of any script, spaces and - & . , ( ). */
  name?: string | null | undefined;
  /** At most 20 characters. */
  phone?: string | null | undefined;
  /** Any JSON object with at most 10 nesting levels and 16 KiB. */
  settings?: unknown;
  /** A valid http or https URL without white space, or empty. */
  website?: string | null | undefined;
};

/** The new values for some fields of a location. Omitted fields are unchanged. */
export type UpdateLocationInput = {
  /** At most 200 characters. */
  address?: string | null | undefined;
  /** Number of parking spaces, 0 or more; null when unknown. */
  capacity?: number | null | undefined;
  /** At most 500 characters. */
  description?: string | null | undefined;
  /** The maximum stay of a vehicle, 1 to 87600 hours; null for no limit. A change of the maximum stay also applies to past parking sessions. */
  longestStayHours?: number | null | undefined;
  /** 1 to 100 characters, at least one of them not white space. */
  name?: string | null | undefined;
  /** 1 to 50 characters: lowercase letters, digits and single hyphens between them. Unique within the company. */
  slug?: string | null | undefined;
  /** IANA name of the time zone of the location. */
  timezone?: string | null | undefined;
};

/** The new values for some fields of a webhook. Omitted fields are unchanged. If the API key may not read all events of the webhook, a client can only disable the webhook or replace its events. A client can change the URL only if its API key also has permission to read the messages that still wait for delivery. */
export type UpdateWebhookInput = {
  /** Whether the gateway delivers messages to the receiver. When a client disables a webhook, the gateway cancels the deliveries of all waiting messages. The receiver never gets a message about an event that happened while the webhook was disabled. */
  enabled?: boolean | null | undefined;
  /** The new list of events that the webhook reports to its receiver. The new list replaces the former list, so the webhook no longer reports events that only the former list contains. */
  events?: Array<WebhookEvent> | null | undefined;
  /** The locations of the company whose events the webhook receives, at most 100. If this list is empty, the webhook receives the events of all locations. The webhook always receives events that belong to no location. */
  locationIds?: Array<string> | null | undefined;
  /** Not allowed for pull delivery. An https URL on the public Internet, at most 2000 characters, without user name and password. */
  url?: string | null | undefined;
};

/** How a receiver gets webhook messages. */
export const WebhookDeliveryKind = {
  /** The receiver gets messages with `pullWebhookMessages`, and acknowledges them with `acknowledgeWebhookMessages`. Use `PULL` for a receiver without a public address. */
  PULL: 'PULL',
  /** The gateway posts each message to the URL of the webhook. */
  PUSH: 'PUSH'
} as const;

export type WebhookDeliveryKind = typeof WebhookDeliveryKind[keyof typeof WebhookDeliveryKind];
/** The state of the delivery of a webhook message. */
export const WebhookDeliveryStatus = {
  /** The gateway cancelled the delivery, because the webhook was disabled before the receiver accepted the webhook message. */
  CANCELLED: 'CANCELLED',
  /** The receiver accepted the webhook message with a 2xx status or, with pull delivery, a client acknowledged the message. */
  DELIVERED: 'DELIVERED',
  /** The receiver did not accept the webhook message within 3 days, or the gateway disabled the webhook after the last delivery attempt. */
  FAILED: 'FAILED',
  /** The webhook message is not yet delivered. With push delivery, the gateway still tries to send the message. With pull delivery, the message waits until a client has pulled and acknowledged it. */
  PENDING: 'PENDING'
} as const;

export type WebhookDeliveryStatus = typeof WebhookDeliveryStatus[keyof typeof WebhookDeliveryStatus];
/** An event to which a webhook can subscribe. */
export const WebhookEvent = {
  /** `company.registered`: A company was registered. The gateway sends this event only to webhooks that belong to no company. Needs the permission READ_COMPANIES. */
  COMPANY_REGISTERED: 'COMPANY_REGISTERED',
  /** `company.updated`: A company was changed. Needs the permission READ_COMPANIES. */
  COMPANY_UPDATED: 'COMPANY_UPDATED',
  /** `location.available`: A full location has free parking spaces again. Needs the permission READ_STATUS. */
  LOCATION_AVAILABLE: 'LOCATION_AVAILABLE',
  /** `location.created`: A location was created. Needs the permission READ_LOCATIONS. */
  LOCATION_CREATED: 'LOCATION_CREATED',
  /** `location.full`: The last parking space of a location was taken. Needs the permission READ_STATUS. */
  LOCATION_FULL: 'LOCATION_FULL',
  /** `location.updated`: A location was changed. Needs the permission READ_LOCATIONS. */
  LOCATION_UPDATED: 'LOCATION_UPDATED',
  /** `parking.entered`: A vehicle entered, or the record of an entry was corrected. Needs the permission READ_ACTIVITY. */
  PARKING_ENTERED: 'PARKING_ENTERED',
  /** `parking.exited`: A vehicle left, or the record of an exit was corrected. Needs the permission READ_ACTIVITY. */
  PARKING_EXITED: 'PARKING_EXITED',
  /** `parking.exit_unseen`: The maximum stay of a vehicle is over, and no gate recorded its exit. Needs the permission READ_ACTIVITY. */
  PARKING_EXIT_UNSEEN: 'PARKING_EXIT_UNSEEN',
  /** `parking.inside_counted`: A person counted the vehicles inside a location. The webhook message contains the numbers of opened and corrected parking sessions. Needs the permission READ_ACTIVITY. */
  PARKING_INSIDE_COUNTED: 'PARKING_INSIDE_COUNTED',
  /** `parking.occupancy_adjusted`: A person corrected the number of vehicles inside a location. Needs the permission READ_ACTIVITY. */
  PARKING_OCCUPANCY_ADJUSTED: 'PARKING_OCCUPANCY_ADJUSTED',
  /** `quota.exceeded`: A vehicle entered, and its reference (such as an apartment) now has more vehicles inside than the quota allows. Needs the permission READ_ACTIVITY. */
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  /** `webhook.disabled`: The gateway disabled a webhook, because its receiver answered 410 Gone or accepted no message for five days. The gateway sends this event to the other webhooks of the company. Needs the permission MANAGE_WEBHOOKS. */
  WEBHOOK_DISABLED: 'WEBHOOK_DISABLED',
  /** `whitelist.created`: A vehicle was added to a whitelist. Needs the permission READ_WHITELIST. */
  WHITELIST_CREATED: 'WHITELIST_CREATED',
  /** `whitelist.deleted`: A vehicle was removed from a whitelist. Needs the permission READ_WHITELIST. */
  WHITELIST_DELETED: 'WHITELIST_DELETED',
  /** `whitelist.imported`: An import changed a whitelist. The webhook message contains the numbers of new, changed and removed whitelist entries. Needs the permission READ_WHITELIST. */
  WHITELIST_IMPORTED: 'WHITELIST_IMPORTED',
  /** `whitelist.updated`: A whitelist entry was replaced. Needs the permission READ_WHITELIST. */
  WHITELIST_UPDATED: 'WHITELIST_UPDATED'
} as const;

export type WebhookEvent = typeof WebhookEvent[keyof typeof WebhookEvent];
/** A day of the week. */
export const Weekday = {
  /** Friday. */
  FRIDAY: 'FRIDAY',
  /** Monday. */
  MONDAY: 'MONDAY',
  /** Saturday. */
  SATURDAY: 'SATURDAY',
  /** Sunday. */
  SUNDAY: 'SUNDAY',
  /** Thursday. */
  THURSDAY: 'THURSDAY',
  /** Tuesday. */
  TUESDAY: 'TUESDAY',
  /** Wednesday. */
  WEDNESDAY: 'WEDNESDAY'
} as const;

export type Weekday = typeof Weekday[keyof typeof Weekday];
/** A time span that repeats every week, in the location's local time. The local time takes daylight saving time into account. */
export type WeeklyHoursInput = {
  /** The days of the week on which the time span starts. */
  days: Array<Weekday>;
  /** Start, such as `07:00`, in the location's local time. */
  from: string;
  /** End, such as `19:00` or `24:00`, in the location's local time. If the end is earlier than `from`, the time span ends on the next day. */
  to: string;
};

/** The values of a whitelist entry, which describes a vehicle that may enter a location. */
export type WhitelistEntryInput = {
  /** The weekly hours in which the vehicle may enter. If the list of weekly hours is null or empty, the vehicle may enter at all times. If a client changes the whitelist entry without `hours`, the stored weekly hours stay unchanged. */
  hours?: Array<WeeklyHoursInput> | null | undefined;
  /** The number of times that the vehicle may enter in total, 1 or more; null for no limit. If a client changes the whitelist entry without `maxEntries`, the stored value of `maxEntries` stays unchanged. */
  maxEntries?: number | null | undefined;
  /** Free text, at most 500 characters. */
  note?: string | null | undefined;
  /** `White`, or 1 to 3 letters or digits. */
  plateCode: string;
  /** 1 to 20 digits. `7` and `007` are different plates. */
  plateNumber: string;
  /** Issuing authority or region: 2 to 4 uppercase letters, such as `DXB`. */
  plateType: string;
  /** The client's identifier of a group of entries, such as a resident, a unit or a contract: 1 to 100 characters. */
  referenceId: string;
  /** The time from which the vehicle may enter; null when the validity has no start. */
  validFrom?: string | Date | null | undefined;
  /** The time until which the vehicle may enter; this time must be later than `validFrom`. Null means that the validity has no end. */
  validUntil?: string | Date | null | undefined;
  /** Kind of vehicle in free text, at most 50 characters. */
  vehicleType?: string | null | undefined;
};

export type CheckReadingQueryVariables = Exact<{
  locationId: string;
  reading: ReadingInput;
  tolerance: number;
  at?: string | Date | null | undefined;
}>;


export type CheckReadingQuery = { plateAccess: { allowed: boolean, reason: AccessReason, entry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } | null, checks: Array<{ name: string, passed: boolean, detail: string | null }>, candidates: Array<{ readAs: string | null, entry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } }> } | null };

export type CompanyColumnsFragment = { id: string, name: string, slug: string, address: string, externalCompanyId: string | null };

export type CompaniesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type CompaniesQuery = { companies: { nodes: Array<{ id: string, name: string, slug: string, address: string, externalCompanyId: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type RegisterCompanyMutationVariables = Exact<{
  input: RegisterCompanyInput;
}>;


export type RegisterCompanyMutation = { registerCompany: { id: string, name: string, slug: string, address: string, externalCompanyId: string | null } | null };

export type UpdateCompanyMutationVariables = Exact<{
  id: string;
  input: UpdateCompanyInput;
}>;


export type UpdateCompanyMutation = { updateCompany: { id: string, name: string, slug: string, address: string, externalCompanyId: string | null } | null };

export type RecordEventsMutationVariables = Exact<{
  locationId: string;
  events: Array<ParkingEventInput> | ParkingEventInput;
}>;


export type RecordEventsMutation = { recordParkingEvents: { recorded: number, unchanged: number, corrected: number, rows: Array<{ index: number, error: { code: string, message: string, field: string | null, value: unknown } }> } | null };

export type RecordEventMutationVariables = Exact<{
  locationId: string;
  input: ParkingEventInput;
}>;


export type RecordEventMutation = { recordParkingEvent: { id: string, eventId: string, kind: ParkingEventKind, plateType: string, plateCode: string, plateNumber: string, text: string | null, confidence: number | null, occurredAt: string, listed: boolean, decision: AccessReason | null, createdAt: string } | null };

export type KeyFieldsFragment = { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string } | null };

export type KeysQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type KeysQuery = { apiKeys: { nodes: Array<{ id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type CreateKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateKeyMutation = { createApiKey: { secret: string, apiKey: { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string } } | null };

export type UpdateKeyMutationVariables = Exact<{
  id: string;
  input: UpdateApiKeyInput;
}>;


export type UpdateKeyMutation = { updateApiKey: { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string } | null };

export type RotateKeyMutationVariables = Exact<{
  id: string;
  graceSeconds?: number | null | undefined;
}>;


export type RotateKeyMutation = { rotateApiKey: { secret: string, apiKey: { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string } } | null };

export type RevokeKeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeKeyMutation = { revokeApiKey: { id: string, name: string, hint: string | null, permissions: Array<Permission>, unrestricted: boolean, companyIds: Array<string>, locationIds: Array<string>, hourlyLimit: number, burstLimit: number, lastUsedAt: string | null, expiresAt: string | null, revokedAt: string | null, createdAt: string } | null };

export type LocationColumnsFragment = { id: string, companyId: string, name: string, slug: string, capacity: number | null, timezone: string, longestStayHours: number | null };

export type LocationsQueryVariables = Exact<{
  companyId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type LocationsQuery = { locations: { nodes: Array<{ id: string, companyId: string, name: string, slug: string, capacity: number | null, timezone: string, longestStayHours: number | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type CreateLocationMutationVariables = Exact<{
  input: CreateLocationInput;
}>;


export type CreateLocationMutation = { createLocation: { id: string, companyId: string, name: string, slug: string, capacity: number | null, timezone: string, longestStayHours: number | null } | null };

export type UpdateLocationMutationVariables = Exact<{
  id: string;
  input: UpdateLocationInput;
}>;


export type UpdateLocationMutation = { updateLocation: { id: string, companyId: string, name: string, slug: string, capacity: number | null, timezone: string, longestStayHours: number | null } | null };

export type StatusFieldsFragment = { locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string };

export type StatusesQueryVariables = Exact<{ [key: string]: never; }>;


export type StatusesQuery = { locationStatuses: Array<{ locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string }> | null };

export type StatusQueryVariables = Exact<{
  locationId: string;
}>;


export type StatusQuery = { locationStatus: { locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string } | null };

export type StatusChangedSubscriptionVariables = Exact<{
  locationId: string;
}>;


export type StatusChangedSubscription = { locationStatusChanged: { locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string } };

export type SetInsideMutationVariables = Exact<{
  locationId: string;
  plates: Array<PlateInput> | PlateInput;
  at?: string | Date | null | undefined;
}>;


export type SetInsideMutation = { setInside: { locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string } | null };

export type AdjustOccupancyMutationVariables = Exact<{
  locationId: string;
  occupied: number;
  at?: string | Date | null | undefined;
}>;


export type AdjustOccupancyMutation = { adjustOccupancy: { locationId: string, name: string, slug: string, state: LocationState, capacity: number | null, occupied: number, adjustment: number, available: number | null, whitelistedVehicles: number, lastActivityAt: string | null, updatedAt: string } | null };

export type QuotaFieldsFragment = { referenceId: string, inside: number, enforcement: QuotaEnforcement, used: number };

export type QuotasQueryVariables = Exact<{
  locationId: string;
  first: number;
  after?: string | null | undefined;
}>;


export type QuotasQuery = { quotas: { nodes: Array<{ referenceId: string, inside: number, enforcement: QuotaEnforcement, used: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type SetQuotaMutationVariables = Exact<{
  locationId: string;
  referenceId: string;
  inside?: number | null | undefined;
  enforcement: QuotaEnforcement;
}>;


export type SetQuotaMutation = { setQuota: { referenceId: string, inside: number, enforcement: QuotaEnforcement, used: number } | null };

export type SetQuotasMutationVariables = Exact<{
  locationId: string;
  quotas: Array<QuotaInput> | QuotaInput;
}>;


export type SetQuotasMutation = { setQuotas: Array<{ referenceId: string }> | null };

export type UsageFieldsFragment = { hour: string, operation: string, surface: string, requests: number, refused: number, errors: number };

export type OwnUsageQueryVariables = Exact<{
  from?: string | Date | null | undefined;
  to?: string | Date | null | undefined;
}>;


export type OwnUsageQuery = { viewer: { usage: Array<{ hour: string, operation: string, surface: string, requests: number, refused: number, errors: number }> } | null };

export type UsageOfQueryVariables = Exact<{
  id: string;
  from?: string | Date | null | undefined;
  to?: string | Date | null | undefined;
}>;


export type UsageOfQuery = { apiKey: { usage: Array<{ hour: string, operation: string, surface: string, requests: number, refused: number, errors: number }> } | null };

export type DeprecationFieldsFragment = { operation: string, requests: number, lastUsedAt: string, removedAt: string, replacement: string };

export type OwnDeprecationsQueryVariables = Exact<{ [key: string]: never; }>;


export type OwnDeprecationsQuery = { viewer: { deprecations: Array<{ operation: string, requests: number, lastUsedAt: string, removedAt: string, replacement: string }> } | null };

export type DeprecationsOfQueryVariables = Exact<{
  id: string;
}>;


export type DeprecationsOfQuery = { apiKey: { deprecations: Array<{ operation: string, requests: number, lastUsedAt: string, removedAt: string, replacement: string }> } | null };

export type WebhookFieldsFragment = { id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string };

export type DeliveryFieldsFragment = { id: string, webhookId: string, type: string, status: WebhookDeliveryStatus, createdAt: string, nextAttemptAt: string | null };

export type WebhooksQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type WebhooksQuery = { webhooks: { nodes: Array<{ id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type CreateWebhookMutationVariables = Exact<{
  input: CreateWebhookInput;
}>;


export type CreateWebhookMutation = { createWebhook: { secret: string, webhook: { id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string } } | null };

export type UpdateWebhookMutationVariables = Exact<{
  id: string;
  input: UpdateWebhookInput;
}>;


export type UpdateWebhookMutation = { updateWebhook: { id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string } | null };

export type DeleteWebhookMutationVariables = Exact<{
  id: string;
}>;


export type DeleteWebhookMutation = { deleteWebhook: { id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string } | null };

export type RotateWebhookMutationVariables = Exact<{
  id: string;
  graceSeconds?: number | null | undefined;
}>;


export type RotateWebhookMutation = { rotateWebhookSecret: { secret: string, webhook: { id: string, delivery: WebhookDeliveryKind, url: string | null, events: Array<WebhookEvent>, enabled: boolean, companyId: string | null, locationIds: Array<string>, disabledAt: string | null, failingSince: string | null, formerSecretEndsAt: string | null, createdAt: string } } | null };

export type TestWebhookMutationVariables = Exact<{
  id: string;
  event?: WebhookEvent | null | undefined;
}>;


export type TestWebhookMutation = { testWebhook: { id: string, webhookId: string, type: string, status: WebhookDeliveryStatus, createdAt: string, nextAttemptAt: string | null } | null };

export type RedeliverWebhookMutationVariables = Exact<{
  deliveryId: string;
}>;


export type RedeliverWebhookMutation = { redeliverWebhook: { id: string, webhookId: string, type: string, status: WebhookDeliveryStatus, createdAt: string, nextAttemptAt: string | null } | null };

export type RecoverWebhookMutationVariables = Exact<{
  id: string;
  since: string | Date;
  until?: string | Date | null | undefined;
}>;


export type RecoverWebhookMutation = { recoverWebhook: { deliveries: number } | null };

export type DeliveriesQueryVariables = Exact<{
  id: string;
  status?: WebhookDeliveryStatus | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type DeliveriesQuery = { webhook: { deliveries: { nodes: Array<{ id: string, webhookId: string, type: string, status: WebhookDeliveryStatus, createdAt: string, nextAttemptAt: string | null, attempts: Array<{ createdAt: string, httpStatus: number | null, durationMs: number, error: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type EventsOfKeyQueryVariables = Exact<{ [key: string]: never; }>;


export type EventsOfKeyQuery = { viewer: { webhookEvents: Array<WebhookEvent> } | null };

export type MessageFieldsFragment = { id: string, event: string, body: string, headers: Array<{ name: string, value: string }> };

export type PullMessagesMutationVariables = Exact<{
  webhookId: string;
  first: number;
  leaseSeconds: number;
}>;


export type PullMessagesMutation = { pullWebhookMessages: Array<{ id: string, event: string, body: string, headers: Array<{ name: string, value: string }> }> | null };

export type AcknowledgeMessagesMutationVariables = Exact<{
  webhookId: string;
  ids: Array<string> | string;
}>;


export type AcknowledgeMessagesMutation = { acknowledgeWebhookMessages: number | null };

export type MessagesWaitingSubscriptionVariables = Exact<{
  webhookId: string;
}>;


export type MessagesWaitingSubscription = { webhookMessagesWaiting: { waiting: number } };

export type EntryFieldsFragment = { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> };

export type EntriesQueryVariables = Exact<{
  locationId: string;
  referenceId?: string | null | undefined;
  plateType?: string | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type EntriesQuery = { whitelist: { nodes: Array<{ id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type FindPlateQueryVariables = Exact<{
  locationId: string;
  plate: PlateInput;
  tolerance: number;
}>;


export type FindPlateQuery = { plateAccess: { allowed: boolean, reason: AccessReason, entry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } | null, candidates: Array<{ entry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } }> } | null };

export type AddEntryMutationVariables = Exact<{
  locationId: string;
  input: WhitelistEntryInput;
}>;


export type AddEntryMutation = { createWhitelistEntry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } | null };

export type RemoveEntryMutationVariables = Exact<{
  locationId: string;
  id: string;
}>;


export type RemoveEntryMutation = { deleteWhitelistEntry: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } | null };

export type ImportEntriesMutationVariables = Exact<{
  locationId: string;
  entries: Array<WhitelistEntryInput> | WhitelistEntryInput;
  mode: ImportMode;
  dryRun: boolean;
}>;


export type ImportEntriesMutation = { importWhitelistEntries: { created: number, updated: number, unchanged: number, deleted: number, rejected: number, rows: Array<{ index: number, error: { code: string, message: string, field: string | null, value: unknown } | null }> } | null };

export type ChangesQueryVariables = Exact<{
  locationId: string;
  after?: string | null | undefined;
  first: number;
  withUses: boolean;
}>;


export type ChangesQuery = { whitelistChanges: { cursor: string, hasMore: boolean, reset: boolean, timezone: string, upserts: Array<{ entriesRecorded?: number, id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> }>, removals: Array<{ id: string }> } | null };

export type WhitelistChangedSubscriptionVariables = Exact<{
  locationId: string;
}>;


export type WhitelistChangedSubscription = { whitelistChanged: { cursor: string } };

export type SetEntryHoursMutationVariables = Exact<{
  locationId: string;
  id: string;
  hours?: Array<WeeklyHoursInput> | WeeklyHoursInput | null | undefined;
}>;


export type SetEntryHoursMutation = { setEntryHours: { id: string, referenceId: string, plateType: string, plateCode: string, plateNumber: string, vehicleType: string | null, note: string | null, validFrom: string | null, validUntil: string | null, maxEntries: number | null, hours: Array<{ days: Array<Weekday>, from: string, to: string }> } | null };

export const CompanyColumnsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CompanyColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Company"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"externalCompanyId"}}]}}]} as unknown as DocumentNode<CompanyColumnsFragment, unknown>;
export const KeyFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<KeyFieldsFragment, unknown>;
export const LocationColumnsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LocationColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Location"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"longestStayHours"}}]}}]} as unknown as DocumentNode<LocationColumnsFragment, unknown>;
export const StatusFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<StatusFieldsFragment, unknown>;
export const QuotaFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"QuotaFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Quota"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"inside"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"used"}}]}}]} as unknown as DocumentNode<QuotaFieldsFragment, unknown>;
export const UsageFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UsageFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hour"}},{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"surface"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}},{"kind":"Field","name":{"kind":"Name","value":"errors"}}]}}]} as unknown as DocumentNode<UsageFieldsFragment, unknown>;
export const DeprecationFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeprecationFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeprecatedUse"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"removedAt"}},{"kind":"Field","name":{"kind":"Name","value":"replacement"}}]}}]} as unknown as DocumentNode<DeprecationFieldsFragment, unknown>;
export const WebhookFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<WebhookFieldsFragment, unknown>;
export const DeliveryFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeliveryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"webhookId"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}}]}}]} as unknown as DocumentNode<DeliveryFieldsFragment, unknown>;
export const MessageFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"MessageFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookMessage"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"event"}},{"kind":"Field","name":{"kind":"Name","value":"headers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"body"}}]}}]} as unknown as DocumentNode<MessageFieldsFragment, unknown>;
export const EntryFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<EntryFieldsFragment, unknown>;
export const CheckReadingDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CheckReading"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"reading"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ReadingInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"tolerance"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"plateAccess"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"reading"},"value":{"kind":"Variable","name":{"kind":"Name","value":"reading"}}},{"kind":"Argument","name":{"kind":"Name","value":"tolerance"},"value":{"kind":"Variable","name":{"kind":"Name","value":"tolerance"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowed"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"entry"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"checks"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"passed"}},{"kind":"Field","name":{"kind":"Name","value":"detail"}}]}},{"kind":"Field","name":{"kind":"Name","value":"candidates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"readAs"}},{"kind":"Field","name":{"kind":"Name","value":"entry"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<CheckReadingQuery, CheckReadingQueryVariables>;
export const CompaniesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Companies"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"companies"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"CompanyColumns"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CompanyColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Company"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"externalCompanyId"}}]}}]} as unknown as DocumentNode<CompaniesQuery, CompaniesQueryVariables>;
export const RegisterCompanyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterCompany"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterCompanyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerCompany"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"CompanyColumns"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CompanyColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Company"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"externalCompanyId"}}]}}]} as unknown as DocumentNode<RegisterCompanyMutation, RegisterCompanyMutationVariables>;
export const UpdateCompanyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateCompany"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateCompanyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateCompany"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"CompanyColumns"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CompanyColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Company"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"externalCompanyId"}}]}}]} as unknown as DocumentNode<UpdateCompanyMutation, UpdateCompanyMutationVariables>;
export const RecordEventsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RecordEvents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"events"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ParkingEventInput"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"recordParkingEvents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"events"},"value":{"kind":"Variable","name":{"kind":"Name","value":"events"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"recorded"}},{"kind":"Field","name":{"kind":"Name","value":"unchanged"}},{"kind":"Field","name":{"kind":"Name","value":"corrected"}},{"kind":"Field","name":{"kind":"Name","value":"rows"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"index"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}}]}}]}}]}}]} as unknown as DocumentNode<RecordEventsMutation, RecordEventsMutationVariables>;
export const RecordEventDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RecordEvent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ParkingEventInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"recordParkingEvent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"listed"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}}]} as unknown as DocumentNode<RecordEventMutation, RecordEventMutationVariables>;
export const ViewerDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<ViewerQuery, ViewerQueryVariables>;
export const KeysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Keys"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKeys"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<KeysQuery, KeysQueryVariables>;
export const CreateKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<CreateKeyMutation, CreateKeyMutationVariables>;
export const UpdateKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<UpdateKeyMutation, UpdateKeyMutationVariables>;
export const RotateKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RotateKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"graceSeconds"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rotateApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"graceSeconds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"graceSeconds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RotateKeyMutation, RotateKeyMutationVariables>;
export const RevokeKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"KeyFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"KeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}},{"kind":"Field","name":{"kind":"Name","value":"permissions"}},{"kind":"Field","name":{"kind":"Name","value":"unrestricted"}},{"kind":"Field","name":{"kind":"Name","value":"companyIds"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"hourlyLimit"}},{"kind":"Field","name":{"kind":"Name","value":"burstLimit"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RevokeKeyMutation, RevokeKeyMutationVariables>;
export const LocationsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Locations"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"companyId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"companyId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"companyId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LocationColumns"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LocationColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Location"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"longestStayHours"}}]}}]} as unknown as DocumentNode<LocationsQuery, LocationsQueryVariables>;
export const CreateLocationDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateLocation"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateLocationInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createLocation"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LocationColumns"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LocationColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Location"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"longestStayHours"}}]}}]} as unknown as DocumentNode<CreateLocationMutation, CreateLocationMutationVariables>;
export const UpdateLocationDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateLocation"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateLocationInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateLocation"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LocationColumns"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LocationColumns"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Location"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"longestStayHours"}}]}}]} as unknown as DocumentNode<UpdateLocationMutation, UpdateLocationMutationVariables>;
export const StatusesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationStatuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<StatusesQuery, StatusesQueryVariables>;
export const StatusDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Status"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationStatus"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<StatusQuery, StatusQueryVariables>;
export const StatusChangedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"StatusChanged"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationStatusChanged"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<StatusChangedSubscription, StatusChangedSubscriptionVariables>;
export const SetInsideDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetInside"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"plates"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PlateInput"}}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setInside"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"plates"},"value":{"kind":"Variable","name":{"kind":"Name","value":"plates"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<SetInsideMutation, SetInsideMutationVariables>;
export const AdjustOccupancyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AdjustOccupancy"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"occupied"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"adjustOccupancy"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"occupied"},"value":{"kind":"Variable","name":{"kind":"Name","value":"occupied"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LocationStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"slug"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"occupied"}},{"kind":"Field","name":{"kind":"Name","value":"adjustment"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"whitelistedVehicles"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<AdjustOccupancyMutation, AdjustOccupancyMutationVariables>;
export const QuotasDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Quotas"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"quotas"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"QuotaFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"QuotaFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Quota"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"inside"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"used"}}]}}]} as unknown as DocumentNode<QuotasQuery, QuotasQueryVariables>;
export const SetQuotaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetQuota"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"referenceId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"inside"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"enforcement"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaEnforcement"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setQuota"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"referenceId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"referenceId"}}},{"kind":"Argument","name":{"kind":"Name","value":"inside"},"value":{"kind":"Variable","name":{"kind":"Name","value":"inside"}}},{"kind":"Argument","name":{"kind":"Name","value":"enforcement"},"value":{"kind":"Variable","name":{"kind":"Name","value":"enforcement"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"QuotaFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"QuotaFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Quota"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"inside"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"used"}}]}}]} as unknown as DocumentNode<SetQuotaMutation, SetQuotaMutationVariables>;
export const SetQuotasDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetQuotas"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"quotas"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaInput"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setQuotas"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"quotas"},"value":{"kind":"Variable","name":{"kind":"Name","value":"quotas"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"referenceId"}}]}}]}}]} as unknown as DocumentNode<SetQuotasMutation, SetQuotasMutationVariables>;
export const OwnUsageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OwnUsage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UsageFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UsageFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hour"}},{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"surface"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}},{"kind":"Field","name":{"kind":"Name","value":"errors"}}]}}]} as unknown as DocumentNode<OwnUsageQuery, OwnUsageQueryVariables>;
export const UsageOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"UsageOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UsageFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UsageFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hour"}},{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"surface"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}},{"kind":"Field","name":{"kind":"Name","value":"errors"}}]}}]} as unknown as DocumentNode<UsageOfQuery, UsageOfQueryVariables>;
export const OwnDeprecationsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OwnDeprecations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deprecations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeprecationFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeprecationFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeprecatedUse"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"removedAt"}},{"kind":"Field","name":{"kind":"Name","value":"replacement"}}]}}]} as unknown as DocumentNode<OwnDeprecationsQuery, OwnDeprecationsQueryVariables>;
export const DeprecationsOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"DeprecationsOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deprecations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeprecationFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeprecationFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeprecatedUse"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"operation"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"removedAt"}},{"kind":"Field","name":{"kind":"Name","value":"replacement"}}]}}]} as unknown as DocumentNode<DeprecationsOfQuery, DeprecationsOfQueryVariables>;
export const WebhooksDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Webhooks"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhooks"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<WebhooksQuery, WebhooksQueryVariables>;
export const CreateWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateWebhookInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"webhook"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<CreateWebhookMutation, CreateWebhookMutationVariables>;
export const UpdateWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateWebhookInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<UpdateWebhookMutation, UpdateWebhookMutationVariables>;
export const DeleteWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<DeleteWebhookMutation, DeleteWebhookMutationVariables>;
export const RotateWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RotateWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"graceSeconds"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rotateWebhookSecret"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"graceSeconds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"graceSeconds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"webhook"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"delivery"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"events"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}},{"kind":"Field","name":{"kind":"Name","value":"companyId"}},{"kind":"Field","name":{"kind":"Name","value":"locationIds"}},{"kind":"Field","name":{"kind":"Name","value":"disabledAt"}},{"kind":"Field","name":{"kind":"Name","value":"failingSince"}},{"kind":"Field","name":{"kind":"Name","value":"formerSecretEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RotateWebhookMutation, RotateWebhookMutationVariables>;
export const TestWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"TestWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"event"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookEvent"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"testWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"event"},"value":{"kind":"Variable","name":{"kind":"Name","value":"event"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeliveryFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeliveryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"webhookId"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}}]}}]} as unknown as DocumentNode<TestWebhookMutation, TestWebhookMutationVariables>;
export const RedeliverWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RedeliverWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"deliveryId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"redeliverWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"deliveryId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"deliveryId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeliveryFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeliveryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"webhookId"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}}]}}]} as unknown as DocumentNode<RedeliverWebhookMutation, RedeliverWebhookMutationVariables>;
export const RecoverWebhookDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RecoverWebhook"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"until"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"recoverWebhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"until"},"value":{"kind":"Variable","name":{"kind":"Name","value":"until"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deliveries"}}]}}]}}]} as unknown as DocumentNode<RecoverWebhookMutation, RecoverWebhookMutationVariables>;
export const DeliveriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Deliveries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"status"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDeliveryStatus"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhook"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deliveries"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"status"},"value":{"kind":"Variable","name":{"kind":"Name","value":"status"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeliveryFields"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"httpStatus"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}},{"kind":"Field","name":{"kind":"Name","value":"error"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeliveryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"webhookId"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}}]}}]} as unknown as DocumentNode<DeliveriesQuery, DeliveriesQueryVariables>;
export const EventsOfKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"EventsOfKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookEvents"}}]}}]}}]} as unknown as DocumentNode<EventsOfKeyQuery, EventsOfKeyQueryVariables>;
export const PullMessagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PullMessages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"leaseSeconds"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pullWebhookMessages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"webhookId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"leaseSeconds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"leaseSeconds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"MessageFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"MessageFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookMessage"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"event"}},{"kind":"Field","name":{"kind":"Name","value":"headers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"body"}}]}}]} as unknown as DocumentNode<PullMessagesMutation, PullMessagesMutationVariables>;
export const AcknowledgeMessagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AcknowledgeMessages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ids"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"acknowledgeWebhookMessages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"webhookId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}}},{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ids"}}}]}]}}]} as unknown as DocumentNode<AcknowledgeMessagesMutation, AcknowledgeMessagesMutationVariables>;
export const MessagesWaitingDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"MessagesWaiting"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookMessagesWaiting"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"webhookId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"webhookId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"waiting"}}]}}]}}]} as unknown as DocumentNode<MessagesWaitingSubscription, MessagesWaitingSubscriptionVariables>;
export const EntriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Entries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"referenceId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"plateType"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"whitelist"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"referenceId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"referenceId"}}},{"kind":"Argument","name":{"kind":"Name","value":"plateType"},"value":{"kind":"Variable","name":{"kind":"Name","value":"plateType"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<EntriesQuery, EntriesQueryVariables>;
export const FindPlateDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"FindPlate"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"plate"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PlateInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"tolerance"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"plateAccess"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"plate"},"value":{"kind":"Variable","name":{"kind":"Name","value":"plate"}}},{"kind":"Argument","name":{"kind":"Name","value":"tolerance"},"value":{"kind":"Variable","name":{"kind":"Name","value":"tolerance"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowed"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"entry"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"candidates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entry"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<FindPlateQuery, FindPlateQueryVariables>;
export const AddEntryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AddEntry"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntryInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createWhitelistEntry"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<AddEntryMutation, AddEntryMutationVariables>;
export const RemoveEntryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RemoveEntry"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteWhitelistEntry"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<RemoveEntryMutation, RemoveEntryMutationVariables>;
export const ImportEntriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ImportEntries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entries"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntryInput"}}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"mode"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ImportMode"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"dryRun"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"importWhitelistEntries"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"entries"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entries"}}},{"kind":"Argument","name":{"kind":"Name","value":"mode"},"value":{"kind":"Variable","name":{"kind":"Name","value":"mode"}}},{"kind":"Argument","name":{"kind":"Name","value":"dryRun"},"value":{"kind":"Variable","name":{"kind":"Name","value":"dryRun"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"created"}},{"kind":"Field","name":{"kind":"Name","value":"updated"}},{"kind":"Field","name":{"kind":"Name","value":"unchanged"}},{"kind":"Field","name":{"kind":"Name","value":"deleted"}},{"kind":"Field","name":{"kind":"Name","value":"rejected"}},{"kind":"Field","name":{"kind":"Name","value":"rows"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"index"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}}]}}]}}]}}]} as unknown as DocumentNode<ImportEntriesMutation, ImportEntriesMutationVariables>;
export const ChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Changes"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"withUses"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"whitelistChanges"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upserts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}},{"kind":"Field","name":{"kind":"Name","value":"entriesRecorded"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"include"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"if"},"value":{"kind":"Variable","name":{"kind":"Name","value":"withUses"}}}]}]}]}},{"kind":"Field","name":{"kind":"Name","value":"removals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"hasMore"}},{"kind":"Field","name":{"kind":"Name","value":"reset"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<ChangesQuery, ChangesQueryVariables>;
export const WhitelistChangedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"WhitelistChanged"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"whitelistChanged"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}}]}}]}}]} as unknown as DocumentNode<WhitelistChangedSubscription, WhitelistChangedSubscriptionVariables>;
export const SetEntryHoursDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetEntryHours"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hours"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"WeeklyHoursInput"}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setEntryHours"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"hours"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hours"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntryFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntryFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WhitelistEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"referenceId"}},{"kind":"Field","name":{"kind":"Name","value":"plateType"}},{"kind":"Field","name":{"kind":"Name","value":"plateCode"}},{"kind":"Field","name":{"kind":"Name","value":"plateNumber"}},{"kind":"Field","name":{"kind":"Name","value":"vehicleType"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"validFrom"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}},{"kind":"Field","name":{"kind":"Name","value":"hours"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"days"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}},{"kind":"Field","name":{"kind":"Name","value":"maxEntries"}}]}}]} as unknown as DocumentNode<SetEntryHoursMutation, SetEntryHoursMutationVariables>;