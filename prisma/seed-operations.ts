import { newId } from '../src/ids.ts';
import type { WebhookSecretBox } from '../src/webhooks/secret-box.ts';
import { newWebhookSecret } from '../src/webhooks/signature.ts';
import { retryDays } from '../src/webhooks/outbox.ts';
import type {
  AuditRecord,
  UsageTotal,
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
  WhitelistEntry,
} from './generated/client/client.ts';

// This file creates the demo data for operators: a webhook whose receiver fails, and the usage of API keys.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The demo data has usage totals of API keys for the last `usageDays` days before the first start of the gateway. */
const usageDays = 7;

/** The database rows of a webhook, of its messages, and of the attempts to deliver these messages. */
export interface DemoWebhook {
  records: AuditRecord[];
  webhook: Webhook;
  deliveries: WebhookDelivery[];
  attempts: WebhookAttempt[];
}

/**
 * Creates a webhook for the demo data. The receiver of the demo webhook accepted one message, and then rejected all
 * later messages. The messages of the demo webhook report new whitelist entries. A database trigger creates a webhook
 * delivery for each audit record that is inserted after the webhook was created. The seed script must therefore insert
 * the audit records of the new whitelist entries before the webhook.
 */
export function failingWebhook(options: {
  companyId: string;
  apiKeyId: string;
  entries: readonly Pick<WhitelistEntry, 'id' | 'locationId'>[];
  secrets: WebhookSecretBox;
  now: number;
}): DemoWebhook {
  const { companyId, apiKeyId, entries, secrets, now } = options;
  const webhookId = newId();
  const type = 'whitelist.created';
  const messages = entries.map((entry, index) => ({
    entry,
    recordId: newId(),
    deliveryId: newId(),
    isAccepted: index === 0,
    at: now - retryDays * dayMs - (entries.length - index) * hourMs,
  }));
  const attemptsOf = ({ deliveryId, isAccepted, at }: (typeof messages)[number]) =>
    (isAccepted ? [0] : [0, 1, 6, 24, 48, retryDays * 24 - 1]).map((hours) => ({
      id: newId(),
      deliveryId,
      httpStatus: isAccepted ? 204 : 503,
      error: null,
      durationMs: 180 + hours,
      createdAt: new Date(at + hours * hourMs),
    }));
  const createdAt = new Date(messages[0]!.at - dayMs);
  return {
    records: messages.map(({ entry, recordId, at }) => ({
      ...{ id: recordId, apiKeyId, requestId: newId(), traceparent: null, action: type, companyId },
      ...{ locationId: entry.locationId, targetId: entry.id, changes: entry, createdAt: new Date(at) },
    })),
    webhook: {
      id: webhookId,
      companyId,
      url: 'https://receiver.gulf-parking.example/parking',
      events: [type, 'quota.exceeded', 'location.full', 'location.available'],
      secret: secrets.seal(webhookId, newWebhookSecret()),
      failingSince: new Date(messages.find(({ isAccepted }) => !isAccepted)!.at),
      ...{
        delivery: 'PUSH',
        locationIds: [],
        formerSecret: null,
        formerSecretEndsAt: null,
        disabledAt: null,
      },
      ...{ createdAt, updatedAt: createdAt },
    },
    deliveries: messages.map(({ deliveryId, recordId, isAccepted, at }) => ({
      ...{ id: deliveryId, webhookId, eventId: recordId, type, createdAt: new Date(at) },
      status: isAccepted ? 'DELIVERED' : 'FAILED',
      retryUntil: new Date(at + retryDays * dayMs),
      ...{ nextAttemptAt: new Date(at), claimedAt: null },
    })),
    attempts: messages.flatMap(attemptsOf),
  };
}

/** How many requests an API key sends in the demo data for one API operation. */
interface DemoUse {
  apiKeyId: string;
  surface: 'rest' | 'graphql';
  operation: string;
  /** The number of requests for this operation in the busiest hour of the day. */
  most: number;
  /**
   * With `failsEvery: 50`, for example, one of 50 requests gets the error `NOT_FOUND`. If `failsEvery` is omitted, all
   * requests of the demo data succeed.
   */
  failsEvery?: number;
}

/**
 * Returns how many requests an hour of the day in Dubai has, as a share (from 0.1 to 1) of the requests in the busiest
 * hour. The demo data has few requests at night.
 */
const shareOfHour = (hour: number) => Math.max(0.1, Math.sin(((hour - 5) / 19) * Math.PI));

/**
 * Returns the demo usage of each API key in the past days, as rows of the table `UsageTotal`. The running gateway adds
 * the totals of real requests to the table `UsageTotal`, too.
 */
export function usageTotals(uses: readonly DemoUse[], now: number): UsageTotal[] {
  const lastHour = Math.floor(now / hourMs) * hourMs - hourMs;
  return Array.from({ length: usageDays * 24 }, (_, index) => lastHour - index * hourMs).flatMap((hour) =>
    uses.flatMap(({ most, failsEvery, ...use }) => {
      const requests = Math.round(most * shareOfHour((new Date(hour).getUTCHours() + 4) % 24));
      const failed = failsEvery ? Math.floor(requests / failsEvery) : 0;
      const row = { ...use, hour: new Date(hour), lastUsedAt: new Date(hour + 59 * minuteMs) };
      return [
        { ...row, status: 200, errorCode: '', requests: requests - failed },
        { ...row, status: 404, errorCode: 'NOT_FOUND', requests: failed },
      ].filter(({ requests: count }) => count > 0);
    }),
  );
}
