import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { auditActions, enumName, isAuditAction, webhookEvents } from '../../src/audit/actions.ts';
import { messageRule, type MessageType, messageTypes, testMessageType } from '../../src/webhooks/payload.ts';
import { openActivity } from '../support/activity.ts';
import { newEntry, newSlug, openTestGateway } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', OPERATOR_API_KEY: operator });
const { run, createWebhook, newSubscriber, addEntry, recordImport, received, pull, deliveriesOf, soon } =
  webhookTools(gateway);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

interface MessageShown {
  type: MessageType;
  data: { companyId: string | null; targetId: string; changes: unknown };
}

/** Creates a company, and causes every kind of webhook event for this company. */
async function everyChange() {
  const { body } = await gateway.rest('POST', '/register/company', {
    key: operator,
    body: { name: 'Palm', slug: newSlug(), address: 'Dubai', settings: { gates: 2 } },
  });
  const { companyId } = body.data;
  const key = await gateway.newKey({ companyIds: [companyId] });
  await run(
    key,
    'mutation ($id: ID!, $input: UpdateCompanyInput!) { updateCompany(id: $id, input: $input) { id } }',
    { id: companyId, input: { phone: '+971 4 1', settings: null } },
  );
  const created = await gateway.rest('POST', '/locations', {
    key,
    body: { name: 'Gate', slug: newSlug(), capacity: 1 },
  });
  const locationId: string = created.body.data.id;
  const path = `/locations/${locationId}`;
  await gateway.rest('PUT', path, { key, body: { name: 'North Gate' } });
  const entry = await addEntry(key, locationId);
  await gateway.rest('PUT', `${path}/whitelist/${entry.id}`, { key, body: newEntry() });
  await gateway.rest('DELETE', `${path}/whitelist/${entry.id}`, { key });
  await run(
    key,
    `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $locationId, entries: $entries) { created } }`,
    { locationId, entries: [newEntry(), newEntry()] },
  );
  const listed = await addEntry(key, locationId);
  await run(
    key,
    `mutation ($locationId: ID!, $referenceId: String!) {
      setQuota(locationId: $locationId, referenceId: $referenceId, inside: 0) { used } }`,
    { locationId, referenceId: listed.referenceId },
  );
  for (const kind of ['ENTRY', 'EXIT']) {
    const reading = { text: `${listed.plateCode} ${listed.plateNumber}`, confidence: 0.9 };
    await run(
      key,
      `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      { locationId, input: { eventId: `${kind} of a reading`, kind, reading, occurredAt: new Date() } },
    );
  }
  const { plateType, plateCode, plateNumber } = newEntry();
  // The second EXIT event has the same `eventId` as the first EXIT event, and corrects its exit time.
  for (const [kind, minute] of [
    ['ENTRY', 1],
    ['EXIT', 2],
    ['EXIT', 3],
  ]) {
    const plate = { plateType, plateCode, plateNumber };
    const occurredAt = new Date(Date.now() - 600_000 + Number(minute) * 1000);
    await run(
      key,
      `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      { locationId, input: { eventId: kind, kind, plate, occurredAt } },
    );
  }
  const { change, see, setInside, adjust } = openActivity(gateway, key);
  await setInside(locationId, ['DXB/A/7'], new Date());
  await adjust(locationId, 2, new Date());
  await change(locationId, { longestStayHours: 1 });
  await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/8', at: new Date(Date.now() - 7_200_000) });
  const gone = await startReceiver();
  gone.answer = 410;
  const { webhook } = await createWebhook(key, { url: gone.url, events: ['WHITELIST_CREATED'] });
  await run(key, 'mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id: webhook.id });
  return companyId as string;
}

describe('content of webhook messages', () => {
  test('for each subscribed event, the receiver gets a webhook message that matches the documented schema of the event', async () => {
    const receiver = await startReceiver();
    const { webhook } = await createWebhook(operator, {
      url: receiver.url,
      events: webhookEvents.map(enumName),
    });
    const { id } = webhook;
    await run(operator, 'mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const companyId = await everyChange();
    const messages = async () =>
      ((await received(receiver, 0)) as MessageShown[]).filter(
        ({ type, data }) => data.companyId === companyId || type === testMessageType,
      );
    const typesSent = async () => new Set((await messages()).map(({ type }) => type));
    await expect.poll(async () => [...(await typesSent())].sort(), soon).toEqual([...messageTypes].sort());
    for (const message of await messages()) {
      // The validation rule removes unknown fields. A webhook message that this validation rule leaves unchanged
      // therefore has no unknown fields.
      expect(messageRule(message.type).parse(message)).toEqual(message);
      const schema = z.toJSONSchema(messageRule(message.type), { io: 'input' });
      const isValid = ajv.compile(schema);
      expect([message.type, isValid(message), isValid.errors]).toEqual([message.type, true, null]);
    }
    const imported = (await messages()).find(({ type }) => type === 'whitelist.imported');
    expect(imported?.data.changes).toEqual({ mode: 'CREATE', created: 2 });
    const counted = (await messages()).find(({ type }) => type === 'parking.inside_counted');
    expect(counted?.data.changes).toMatchObject({ vehicles: 1, opened: 1, corrected: 0 });
    await run(operator, 'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }', { id });
  });

  test('the webhook message about an import that changed 200,000 entries contains the number of these entries instead of their ids', async () => {
    const { key, companyId, webhookId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
    const { webhook } = await createWebhook(key, { delivery: 'PULL', events: ['WHITELIST_CREATED'] });
    const ids = Array.from({ length: 100_000 }, () => randomUUID());
    const changes = { mode: 'REPLACE', created: ids, deleted: ids };
    await recordImport(companyId, changes, [webhookId, webhook.id]);
    const [pushed] = await received(receiver, 1);
    expect(pushed.data.changes).toEqual({ mode: 'REPLACE', created: ids.length, deleted: ids.length });
    const [pulled] = await pull(key, webhook.id);
    const [delivery] = await deliveriesOf(key, webhookId);
    for (const body of [pulled!.body, delivery!.body]) expect(body).toBe(receiver.messages[0]!.body);
  });

  test('every webhook event has a validation rule for the content of its messages', () => {
    const events = Object.keys(auditActions)
      .filter(isAuditAction)
      .filter((action) => auditActions[action].isWebhookEvent);
    expect(new Set(messageTypes)).toEqual(new Set([...events, testMessageType]));
  });
});
