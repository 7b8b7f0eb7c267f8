import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WebhookDeliveryStatus } from '../../prisma/generated/client/enums.ts';
import { authenticatedKey, keyScopeRelations } from '../../src/auth/key.ts';
import { keyInvalid } from '../../src/errors/error-table.ts';
import { newId } from '../../src/ids.ts';
import { createRetention } from '../../src/retention/retention.ts';
import { createWebhookRedeliveries } from '../../src/webhooks/redeliveries.ts';
import { openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { run, refused, newReader, newReaderWith, newSubscriber, pull, addEntry, soon, prisma } =
  webhookTools(gateway);
const { sql } = gateway.database;

/** The maximum number of deliveries that one SQL statement of the gateway changes. */
const maxChanged = 1000;
/** The default number of deliveries that a test inserts: two full batches, and a third batch that is not full. */
const backlogSize = 2500;

const update =
  'mutation ($id: ID!, $enabled: Boolean) { updateWebhook(id: $id, input: { enabled: $enabled }) { enabled } }';
const remove = 'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }';
const recover =
  'mutation ($id: ID!) { recoverWebhook(id: $id, since: "2026-01-01T00:00:00Z") { deliveries } }';

const setEnabled = (key: string, id: string, enabled: boolean) =>
  run<{ enabled: boolean }>(key, update, { id, enabled });

/** Runs an SQL statement that has no parameters. */
const execute = (text: string) => prisma.$executeRawUnsafe(text);

// Creates triggers that add a row to "ChangedDeliveries" for each SQL statement that updates or deletes webhook
// deliveries. The triggers also count deliveries that are deleted together with their webhook.
beforeAll(async () => {
  await execute('CREATE TABLE "ChangedDeliveries" (operation text, count int)');
  await execute(`
    CREATE FUNCTION "count_changed_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO "ChangedDeliveries" SELECT TG_OP, count(*) FROM changed;
      RETURN NULL;
    END
    $$`);
  for (const operation of ['UPDATE', 'DELETE'])
    await execute(`
      CREATE TRIGGER "count_${operation}" AFTER ${operation} ON "WebhookDelivery"
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_deliveries"()`);
});
beforeEach(() => execute('DELETE FROM "ChangedDeliveries"'));

/** Returns the largest number of deliveries that one SQL statement of the test has changed. */
async function mostChanged(): Promise<number> {
  const [row] = await prisma.$queryRaw<{ most: number }[]>`
    SELECT coalesce(max(count), 0)::int AS most FROM "ChangedDeliveries"`;
  return row!.most;
}

/**
 * Inserts deliveries of one webhook into the database. The deliveries become due only in five hours, so the webhook
 * worker does not send them.
 */
async function addDeliveries(
  webhookId: string,
  { count = backlogSize, status = 'PENDING' as WebhookDeliveryStatus },
): Promise<void> {
  const eventId = newId();
  await prisma.auditRecord.create({
    data: { id: eventId, requestId: 'test', action: 'test', targetId: newId() },
  });
  await prisma.$executeRaw`
    INSERT INTO "WebhookDelivery" (id, "webhookId", "eventId", type, status, "nextAttemptAt", "retryUntil")
    SELECT "new_id"(), ${webhookId}, ${eventId}, 'whitelist.created', ${status}::"WebhookDeliveryStatus",
      now() + interval '5 hours', now() + interval '3 days'
    FROM generate_series(1, ${count})`;
}

/** Adds a failed delivery attempt to each delivery of a webhook. */
const addAttempts = (webhookId: string) => prisma.$executeRaw`
  INSERT INTO "WebhookAttempt" (id, "deliveryId", "httpStatus", "durationMs")
  SELECT "new_id"(), id, 500, 1 FROM "WebhookDelivery" WHERE "webhookId" = ${webhookId}`;

/** Counts the deliveries of a webhook by their status. */
async function statusesOf(webhookId: string): Promise<Partial<Record<WebhookDeliveryStatus, number>>> {
  const counts = await prisma.webhookDelivery.groupBy({ by: 'status', where: { webhookId }, _count: true });
  return Object.fromEntries(counts.map(({ status, _count }) => [status, _count]));
}

const auditOf = async (webhookId: string) =>
  (await prisma.auditRecord.findMany({ where: { targetId: webhookId }, orderBy: { id: 'asc' } })).map(
    ({ action, changes }) => ({ action, changes }),
  );

/**
 * Disables a webhook but cancels none of its deliveries, like a gateway that is killed just after it has disabled the
 * webhook.
 */
const disableOnly = (id: string) =>
  prisma.webhook.update({ where: { id }, data: { disabledAt: new Date() } });

/**
 * Calls the function `work`, which updates or deletes webhook deliveries in batches. After `number` full batches, a
 * database trigger runs the SQL statement `statement`. For example, `statement` acts like another client that enables
 * the webhook, or it raises an error.
 */
async function atBatch<Result>(
  [operation, number]: ['UPDATE' | 'DELETE', number],
  statement: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await execute(`
    CREATE FUNCTION "at_batch"() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM "ChangedDeliveries" WHERE count = ${maxChanged}) = ${number} THEN ${statement}; END IF;
      RETURN NULL;
    END
    $$`);
  // PostgreSQL runs triggers in the order of their names, so the trigger `then_at_batch` runs after the trigger that
  // counts the changed deliveries.
  await execute(`
    CREATE TRIGGER "then_at_batch" AFTER ${operation} ON "WebhookDelivery"
    FOR EACH STATEMENT EXECUTE FUNCTION "at_batch"()`);
  try {
    return await work();
  } finally {
    await execute('DROP FUNCTION "at_batch" CASCADE');
  }
}

/** Runs the retention job, which removes expired records, and cancels the deliveries of disabled webhooks. */
async function runRetention(): Promise<void> {
  const retention = createRetention({
    sql,
    log: pino({ level: 'silent' }),
    days: { usage: 10, usageTotals: 20, events: 30, deliveries: 20, whitelistChanges: 5 },
  });
  await retention.removeExpired();
  await retention.close();
}

describe('webhooks with more deliveries than one SQL statement may change', () => {
  test('when a client disables a webhook, the gateway cancels all pending deliveries, at most 1,000 in each SQL statement', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, {});
    await addDeliveries(webhookId, { count: 3, status: 'DELIVERED' });
    expect(await setEnabled(key, webhookId, false)).toEqual({ enabled: false });
    expect(await statusesOf(webhookId)).toEqual({ CANCELLED: backlogSize, DELIVERED: 3 });
    expect(await mostChanged()).toBe(maxChanged);
    const records = await auditOf(webhookId);
    expect(records.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.updated']);
  });

  test('when a receiver responds with 410, the gateway cancels all pending deliveries of the webhook, at most 1,000 in each SQL statement', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, {});
    receiver.answer = 410;
    await addEntry(key, locationId);
    await expect.poll(() => statusesOf(webhookId), soon).toEqual({ CANCELLED: backlogSize, FAILED: 1 });
    expect(await mostChanged()).toBe(maxChanged);
    expect((await auditOf(webhookId)).at(-1)).toMatchObject({
      action: 'webhook.disabled',
      changes: { reason: 'GONE', httpStatus: 410 },
    });
  });

  test('when a client deletes a webhook, each SQL statement removes at most 1,000 deliveries, and one audit record reports the deletion', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, {});
    await addDeliveries(webhookId, { count: 1500, status: 'DELIVERED' });
    await addAttempts(webhookId);
    expect(await run(key, remove, { id: webhookId })).toEqual({ id: webhookId });
    expect(await prisma.webhook.findUnique({ where: { id: webhookId } })).toBeNull();
    expect(await statusesOf(webhookId)).toEqual({});
    expect(await mostChanged()).toBe(maxChanged);
    const records = await auditOf(webhookId);
    expect(records.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.deleted']);
  });

  test('recoverWebhook resends at most 1,000 deliveries in each SQL statement, and writes one audit record with the total number of deliveries', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, { status: 'FAILED' });
    await addDeliveries(webhookId, { count: 700, status: 'PENDING' });
    await addAttempts(webhookId);
    await addDeliveries(webhookId, { count: 600, status: 'CANCELLED' });
    await addDeliveries(webhookId, { count: 1500, status: 'DELIVERED' });
    await addDeliveries(webhookId, { count: 5, status: 'PENDING' });
    const deliveries = backlogSize + 700 + 600;
    expect(await run(key, recover, { id: webhookId })).toEqual({ deliveries });
    expect(await statusesOf(webhookId)).toEqual({ PENDING: deliveries + 5, DELIVERED: 1500 });
    expect(await mostChanged()).toBe(maxChanged);
    const records = await auditOf(webhookId);
    expect(records.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.recovered']);
    expect(records[1]).toMatchObject({ changes: { deliveries } });
  });
});

describe('changes of a webhook between two batches of its deliveries', () => {
  test('when a client enables a webhook again after the gateway has cancelled one batch of its deliveries, the gateway cancels no further deliveries', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, {});
    const enable = `UPDATE "Webhook" SET "disabledAt" = NULL WHERE id = '${webhookId}'`;
    await atBatch(['UPDATE', 1], enable, () => setEnabled(key, webhookId, false));
    expect(await statusesOf(webhookId)).toEqual({ CANCELLED: maxChanged, PENDING: backlogSize - maxChanged });
  });

  test('recoverWebhook fails with CONFLICT when a client disables the webhook between two batches of deliveries', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, { status: 'FAILED' });
    const disable = `UPDATE "Webhook" SET "disabledAt" = now() WHERE id = '${webhookId}'`;
    const error = await atBatch(['UPDATE', 1], disable, () => refused(key, recover, { id: webhookId }));
    expect(error).toMatchObject({ code: 'CONFLICT' });
  });

  test('recoverWebhook stops after the current batch of deliveries when the API key was revoked', async () => {
    const { companyId, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, { status: 'FAILED' });
    const stored = await prisma.apiKey.findFirstOrThrow({
      where: { companies: { some: { id: companyId } }, permissions: { has: 'MANAGE_WEBHOOKS' } },
      include: keyScopeRelations,
    });
    const author = {
      key: authenticatedKey(stored, 'secret'),
      requestId: 'test',
      reauthenticate: () => Promise.reject(keyInvalid),
    };
    const since = new Date(Date.now() - 3_600_000);
    await expect(
      createWebhookRedeliveries({ prisma }).recover(author, webhookId, { since, until: null }),
    ).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await statusesOf(webhookId)).toEqual({ PENDING: maxChanged, FAILED: backlogSize - maxChanged });
    expect((await auditOf(webhookId)).map(({ action }) => action)).toEqual(['webhook.created']);
  });

  test('when the deletion of a webhook fails, the webhook keeps its pending deliveries, and a second deletion succeeds', async () => {
    const { key, webhookId } = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(webhookId, { count: 10 });
    await addDeliveries(webhookId, { status: 'DELIVERED' });
    const error = await atBatch(['DELETE', 2], "RAISE 'the test ends the deletion'", () =>
      refused(key, remove, { id: webhookId }),
    );
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(await statusesOf(webhookId)).toEqual({ PENDING: 10, DELIVERED: backlogSize - maxChanged });
    expect((await auditOf(webhookId)).map(({ action }) => action)).toEqual(['webhook.created']);
    expect(await run(key, remove, { id: webhookId })).toEqual({ id: webhookId });
    expect(await statusesOf(webhookId)).toEqual({});
  });
});

describe('waiting deliveries of a disabled webhook whose gateway was killed before the cancellation', () => {
  /** Creates a disabled pull webhook that still has waiting deliveries. */
  async function newInterrupted() {
    const reader = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(reader.webhookId, {});
    await disableOnly(reader.webhookId);
    return reader;
  }

  test.each([true, false])(
    'updateWebhook(enabled: %s) cancels the pending deliveries of an already disabled webhook in batches',
    async (enabled) => {
      const { key, webhookId } = await newInterrupted();
      expect(await setEnabled(key, webhookId, enabled)).toEqual({ enabled });
      expect(await statusesOf(webhookId)).toEqual({ CANCELLED: backlogSize });
      expect(await mostChanged()).toBe(maxChanged);
      const records = await auditOf(webhookId);
      expect(records.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.updated']);
    },
  );

  test('the retention job cancels the pending deliveries of disabled webhooks in batches, and cancels no deliveries of an enabled webhook', async () => {
    const [one, other] = [await newInterrupted(), await newInterrupted()];
    const enabled = await newReader(['WHITELIST_CREATED']);
    await addDeliveries(enabled.webhookId, { count: 5 });
    await runRetention();
    for (const { webhookId } of [one, other])
      expect(await statusesOf(webhookId)).toEqual({ CANCELLED: backlogSize });
    expect(await statusesOf(enabled.webhookId)).toEqual({ PENDING: 5 });
    expect(await mostChanged()).toBe(maxChanged);
  });
});

test('when a webhook is disabled while a client pulls its messages, the client gets no message', async () => {
  const { readerKey, webhookId } = await newReaderWith(1);
  const webhook = await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } });
  await disableOnly(webhookId);
  // The request that pulls webhook messages gets an outdated copy of the webhook, in which the webhook is still
  // enabled. When two requests run at the same time, and one of them disables a webhook, the other request can still
  // get an outdated copy of this webhook.
  const { findFirst } = prisma.webhook;
  prisma.webhook.findFirst = (() => Promise.resolve(webhook)) as never;
  try {
    expect(await pull(readerKey, webhookId)).toEqual([]);
  } finally {
    prisma.webhook.findFirst = findFirst;
  }
});

describe.runIf(testServerUrl)('a change whose transaction ends after the webhook was disabled', () => {
  test('if a change is committed just after a webhook was disabled, the gateway never sends the message about this change, and the retention job cancels the message', async () => {
    const { key, companyId, webhookId, readerKey } = await newReader(['WHITELIST_CREATED']);
    await prisma.$transaction(async (transaction) => {
      await transaction.auditRecord.create({
        data: { id: newId(), requestId: 'test', action: 'whitelist.created', targetId: newId(), companyId },
      });
      await setEnabled(key, webhookId, false);
    });
    expect(await statusesOf(webhookId)).toEqual({ PENDING: 1 });
    await runRetention();
    expect(await statusesOf(webhookId)).toEqual({ CANCELLED: 1 });
    await setEnabled(key, webhookId, true);
    expect(await pull(readerKey, webhookId)).toEqual([]);
  });
});
