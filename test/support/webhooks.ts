import { expect } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, type TestGateway } from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A webhook delivery, with the fields that the tests read over the API. */
export interface DeliveryShown {
  id: string;
  type: string;
  status: string;
  body: string | null;
  nextAttemptAt: string | null;
  attempts: { httpStatus: number | null; error: string | null; durationMs: number }[];
}

/** A webhook message as the mutation `pullWebhookMessages` returns it. */
export interface MessageShown {
  id: string;
  event: string;
  createdAt: string;
  headers: { name: string; value: string }[];
  body: string;
  leaseEndsAt: string;
}

/**
 * A test waits up to `timeout` milliseconds for a result of the webhook worker. The test checks every `interval`
 * milliseconds whether the result has arrived.
 */
const soon = { timeout: 60_000, interval: 50 };

/**
 * Creates functions for tests of webhooks, such as functions that create a webhook or wait for its messages. The
 * gateway under test needs the setting WEBHOOK_ALLOW_PRIVATE, so that the gateway can send messages to this machine.
 */
export function webhookTools(gateway: TestGateway) {
  const { prisma, sql } = gateway.database;

  /** Runs a GraphQL operation with one root field, and returns the value of the field. */
  async function run<Value>(key: string, operation: string, variables: Record<string, unknown> = {}) {
    const { body } = await gateway.graph(operation, { key, variables });
    expect(body.errors).toBeUndefined();
    return Object.values(body.data)[0] as Value;
  }

  /** Runs a GraphQL operation that fails, and returns the `extensions` of its error. */
  async function refused(key: string, operation: string, variables: Record<string, unknown>) {
    const { body } = await gateway.graph(operation, { key, variables });
    return body.errors?.[0].extensions;
  }

  /** Creates a webhook with the given input, such as its URL and its events. */
  const createWebhook = async (key: string, input: Record<string, unknown>) =>
    run<{ secret: string; webhook: { id: string } }>(
      key,
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }',
      { input },
    );

  /** Creates a company with a webhook for the given events, and a receiver for this webhook. */
  async function newSubscriber(events: string[], as?: string) {
    const tenant = await gateway.newTenant();
    const receiver = await startReceiver();
    const { secret, webhook } = await createWebhook(as ?? tenant.key, { url: receiver.url, events });
    return { ...tenant, receiver, secret, webhookId: webhook.id };
  }

  /**
   * Creates a webhook, and changes the URL of the webhook while the first delivery attempt still waits for its
   * response. The receiver at the old URL of the webhook (`receiver`) has got one message. The receiver at the old URL
   * answers a message only when the test calls `answer`.
   *
   * @param status the HTTP status with which the receiver at the old URL answers
   */
  async function newMovedSubscriber(status = 204) {
    const subscriber = await newSubscriber(['WHITELIST_CREATED']);
    const newReceiver = await startReceiver();
    let answer = () => {};
    subscriber.receiver.answer = status;
    subscriber.receiver.mayAnswer = new Promise((resolve) => (answer = resolve));
    await addEntry(subscriber.key, subscriber.locationId);
    await received(subscriber.receiver, 1);
    await run(
      subscriber.key,
      'mutation ($id: ID!, $url: String!) { updateWebhook(id: $id, input: { url: $url }) { id } }',
      { id: subscriber.webhookId, url: newReceiver.url },
    );
    return { ...subscriber, newReceiver, answer: () => answer() };
  }

  /** Creates a company with a pull webhook, and an API key whose only permission is to receive webhook messages. */
  async function newReader(events: string[]) {
    const tenant = await gateway.newTenant();
    const { secret, webhook } = await createWebhook(tenant.key, { delivery: 'PULL', events });
    const readerKey = await gateway.newKey({
      companyIds: [tenant.companyId],
      permissions: ['RECEIVE_WEBHOOKS'],
    });
    return { ...tenant, secret, webhookId: webhook.id, readerKey };
  }

  /** Fetches waiting messages of a pull webhook from the gateway, as a receiver does. */
  const pull = (key: string, id: string, options: { first?: number; leaseSeconds?: number } = {}) =>
    run<MessageShown[]>(
      key,
      `mutation ($id: ID!, $first: Int, $leaseSeconds: Int) {
        pullWebhookMessages(webhookId: $id, first: $first, leaseSeconds: $leaseSeconds) {
          id event createdAt headers { name value } body leaseEndsAt } }`,
      { id, ...options },
    );

  /** Acknowledges messages of a pull webhook, and returns the number of newly acknowledged messages. */
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

  /** Creates a company with a pull webhook that has the given number of waiting messages. */
  async function newReaderWith(messages: number) {
    const reader = await newReader(['WHITELIST_CREATED']);
    for (let count = 0; count < messages; count += 1) await addEntry(reader.key, reader.locationId);
    return reader;
  }

  /** Stores the audit record of an import, and adds a pending delivery to each of the given webhooks. */
  async function recordImport(companyId: string, changes: object, webhookIds: readonly string[]) {
    const type = 'whitelist.imported';
    const { id: eventId } = await prisma.auditRecord.create({
      data: { id: newId(), requestId: 'test', action: type, targetId: newId(), companyId, changes },
    });
    const retryUntil = new Date('2999-01-01');
    await prisma.webhookDelivery.createMany({
      data: webhookIds.map((webhookId) => ({ id: newId(), webhookId, eventId, type, retryUntil })),
    });
  }

  /** Reads the deliveries of a webhook over the API, newest first. */
  async function deliveriesOf(key: string, id: string, filter = ''): Promise<DeliveryShown[]> {
    const { deliveries } = await run<{ deliveries: { nodes: DeliveryShown[] } }>(
      key,
      `query ($id: ID!) { webhook(id: $id) { deliveries${filter} { nodes {
        id type status body nextAttemptAt attempts { httpStatus error durationMs } } } } }`,
      { id },
    );
    return deliveries.nodes;
  }

  /**
   * Waits until the receiver has the given number of messages, and returns the parsed bodies of all received messages.
   */
  async function received(receiver: Receiver, count: number) {
    await expect.poll(() => receiver.messages.length, soon).toBeGreaterThanOrEqual(count);
    return receiver.messages.map(({ body }) => JSON.parse(body));
  }

  /** Makes all pending deliveries of a webhook due now, so that the gateway sends them immediately. */
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
    newMovedSubscriber,
    newReader,
    newReaderWith,
    pull,
    acknowledge,
    addEntry,
    recordImport,
    deliveriesOf,
    received,
    skipRetryDelay,
    soon,
    prisma,
  };
}
