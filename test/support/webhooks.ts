import { expect } from 'vitest';
import { newEntry, type TestGateway } from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A delivery as a client sees it. */
export interface DeliveryShown {
  id: string;
  type: string;
  status: string;
  body: string | null;
  nextAttemptAt: string | null;
  attempts: { httpStatus: number | null; error: string | null; durationMs: number }[];
}

/** How long a test waits for what the worker does; it asks again and again meanwhile. */
const soon = { timeout: 60_000, interval: 50 };

/** What the tests of webhooks do at a gateway that may post to this machine (WEBHOOK_ALLOW_PRIVATE). */
export function webhookTools(gateway: TestGateway) {
  const { prisma, sql } = gateway.database;

  /** Runs one root field and returns its value. */
  async function run<Value>(key: string, operation: string, variables: Record<string, unknown> = {}) {
    const { body } = await gateway.graph(operation, { key, variables });
    expect(body.errors).toBeUndefined();
    return Object.values(body.data)[0] as Value;
  }

  /** Creates a webhook that waits for some events at an address. */
  const createWebhook = async (key: string, input: Record<string, unknown>) =>
    run<{ secret: string; webhook: { id: string } }>(
      key,
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }',
      { input },
    );

  /** A company with a webhook that waits for some events at a receiver of its own. */
  async function newSubscriber(events: string[], as?: string) {
    const tenant = await gateway.newTenant();
    const receiver = await startReceiver();
    const { secret, webhook } = await createWebhook(as ?? tenant.key, { url: receiver.url, events });
    return { ...tenant, receiver, secret, webhookId: webhook.id };
  }

  /** Adds a vehicle to a whitelist: the event `whitelist.created`. */
  async function addEntry(key: string, locationId: string) {
    const { body, status } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
    });
    expect(status).toBe(201);
    return body.data;
  }

  /** The deliveries of a webhook as a client sees them, newest first. */
  async function deliveriesOf(key: string, id: string, filter = ''): Promise<DeliveryShown[]> {
    const { deliveries } = await run<{ deliveries: { nodes: DeliveryShown[] } }>(
      key,
      `query ($id: ID!) { webhook(id: $id) { deliveries${filter} { nodes {
        id type status body nextAttemptAt attempts { httpStatus error durationMs } } } } }`,
      { id },
    );
    return deliveries.nodes;
  }

  /** Waits for so many messages and returns what they say. */
  async function received(receiver: Receiver, count: number) {
    await expect.poll(() => receiver.messages.length, soon).toBeGreaterThanOrEqual(count);
    return receiver.messages.map(({ body }) => JSON.parse(body));
  }

  /** Makes everything that waits for a webhook due now, by the clock of the database. */
  async function skipRetryDelay(webhookId: string) {
    await sql.query(
      {
        name: 'test-skip-retry-delay',
        text: `UPDATE "WebhookDelivery" SET "nextAttemptAt" = now() WHERE "webhookId" = $1 AND status = 'PENDING'`,
      },
      [webhookId],
    );
  }

  return {
    run,
    createWebhook,
    newSubscriber,
    addEntry,
    deliveriesOf,
    received,
    skipRetryDelay,
    soon,
    prisma,
  };
}
