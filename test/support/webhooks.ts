import { expect } from 'vitest';
import { newEntry, type TestGateway } from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A webhook delivery with the fields that the API returns. */
export interface DeliveryShown {
  id: string;
  type: string;
  status: string;
  body: string | null;
  nextAttemptAt: string | null;
  attempts: { httpStatus: number | null; error: string | null; durationMs: number }[];
}

/** A webhook message as a reader of a pull webhook receives it. */
export interface MessageShown {
  id: string;
  event: string;
  createdAt: string;
  headers: { name: string; value: string }[];
  body: string;
  leaseEndsAt: string;
}

/** The time that a test waits for the webhook worker. */
const soon = { timeout: 60_000, interval: 50 };

/** Functions for webhooks on a gateway that may post to this machine (WEBHOOK_ALLOW_PRIVATE). */
export function webhookTools(gateway: TestGateway) {
  const { prisma, sql } = gateway.database;

  /** Runs one root field of the graph and returns its value. */
  async function run<Value>(key: string, operation: string, variables: Record<string, unknown> = {}) {
    const { body } = await gateway.graph(operation, { key, variables });
    expect(body.errors).toBeUndefined();
    return Object.values(body.data)[0] as Value;
  }

  /** Runs one root field of the graph and returns the extensions of its error. */
  async function refused(key: string, operation: string, variables: Record<string, unknown>) {
    const { body } = await gateway.graph(operation, { key, variables });
    return body.errors?.[0].extensions;
  }

  /** Creates a webhook for some events at an address. */
  const createWebhook = async (key: string, input: Record<string, unknown>) =>
    run<{ secret: string; webhook: { id: string } }>(
      key,
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }',
      { input },
    );

  /** A company with a webhook for some events, and its own receiver. */
  async function newSubscriber(events: string[], as?: string) {
    const tenant = await gateway.newTenant();
    const receiver = await startReceiver();
    const { secret, webhook } = await createWebhook(as ?? tenant.key, { url: receiver.url, events });
    return { ...tenant, receiver, secret, webhookId: webhook.id };
  }

  /** A company with a pull webhook, and a key that may only read its messages. */
  async function newReader(events: string[]) {
    const tenant = await gateway.newTenant();
    const { secret, webhook } = await createWebhook(tenant.key, { delivery: 'PULL', events });
    const readerKey = await gateway.newKey({
      companyIds: [tenant.companyId],
      permissions: ['RECEIVE_WEBHOOKS'],
    });
    return { ...tenant, secret, webhookId: webhook.id, readerKey };
  }

  /** Pulls messages of a pull webhook. */
  const pull = (key: string, id: string, options: { first?: number; leaseSeconds?: number } = {}) =>
    run<MessageShown[]>(
      key,
      `mutation ($id: ID!, $first: Int, $leaseSeconds: Int) {
        pullWebhookMessages(webhookId: $id, first: $first, leaseSeconds: $leaseSeconds) {
          id event createdAt headers { name value } body leaseEndsAt } }`,
      { id, ...options },
    );

  /** Acknowledges messages of a webhook and returns how many this call acknowledged. */
  const acknowledge = (key: string, id: string, messages: readonly { id: string }[]) =>
    run<number>(
      key,
      'mutation ($id: ID!, $ids: [ID!]!) { acknowledgeWebhookMessages(webhookId: $id, ids: $ids) }',
      { id, ids: messages.map((message) => message.id) },
    );

  /** Adds a vehicle to a whitelist, which causes the event `whitelist.created`. */
  async function addEntry(key: string, locationId: string) {
    const { body, status } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
    });
    expect(status).toBe(201);
    return body.data;
  }

  /** A reader whose webhook has the given number of waiting messages. */
  async function newReaderWith(messages: number) {
    const reader = await newReader(['WHITELIST_CREATED']);
    for (let count = 0; count < messages; count += 1) await addEntry(reader.key, reader.locationId);
    return reader;
  }

  /** Returns the deliveries of a webhook from the API, newest first. */
  async function deliveriesOf(key: string, id: string, filter = ''): Promise<DeliveryShown[]> {
    const { deliveries } = await run<{ deliveries: { nodes: DeliveryShown[] } }>(
      key,
      `query ($id: ID!) { webhook(id: $id) { deliveries${filter} { nodes {
        id type status body nextAttemptAt attempts { httpStatus error durationMs } } } } }`,
      { id },
    );
    return deliveries.nodes;
  }

  /** Waits for the given number of messages and returns their bodies. */
  async function received(receiver: Receiver, count: number) {
    await expect.poll(() => receiver.messages.length, soon).toBeGreaterThanOrEqual(count);
    return receiver.messages.map(({ body }) => JSON.parse(body));
  }

  /** Makes all waiting deliveries of a webhook due now, by the clock of the database. */
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
    refused,
    createWebhook,
    newSubscriber,
    newReader,
    newReaderWith,
    pull,
    acknowledge,
    addEntry,
    deliveriesOf,
    received,
    skipRetryDelay,
    soon,
    prisma,
  };
}
