import { expect, onTestFinished, test } from 'vitest';
import { askGraph } from '../faults/support/tenant.ts';
import { databaseVariables, type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { newEntry, newSlug } from '../support/harness.ts';
import { createScratchDatabase } from '../support/scratch-database.ts';
import type { MessageShown } from '../support/webhooks.ts';

const operator = 'operator-key-of-the-tests-0123456789';

/**
 * Creates a database, and returns a function that kills the current gateway process and starts a new one with the same
 * database.
 */
async function newInstallation() {
  const scratch = await createScratchDatabase();
  const started: GatewayProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(started.map((gateway) => gateway.end('SIGKILL')));
    await scratch.drop();
  });
  return async () => {
    await started.at(-1)?.end('SIGKILL');
    const gateway = startGatewayProcess({
      OPERATOR_API_KEY: operator,
      ...databaseVariables(scratch),
    });
    started.push(gateway);
    const url = await gateway.listening();
    return <Value>(query: string, variables: Record<string, unknown>) =>
      askGraph<Value>(url, operator, query, variables);
  };
}

test('after the gateway is killed and restarted, a new client gets only the pulled webhook messages that no client has acknowledged', async () => {
  const restart = await newInstallation();
  let ask = await restart();
  const { id: companyId } = await ask<{ id: string }>(
    'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
    { input: { name: 'Company', slug: newSlug(), address: 'Dubai' } },
  );
  const { id: locationId } = await ask<{ id: string }>(
    'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id } }',
    { input: { companyId, name: 'Location', slug: newSlug() } },
  );
  const { webhook } = await ask<{ webhook: { id: string } }>(
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
    { input: { companyId, delivery: 'PULL', events: ['WHITELIST_CREATED'] } },
  );
  const entries: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { id } = await ask<{ id: string }>(
      'mutation ($locationId: ID!, $input: WhitelistEntryInput!) { createWhitelistEntry(locationId: $locationId, input: $input) { id } }',
      { locationId, input: newEntry() },
    );
    entries.push(id);
  }
  const pull = () =>
    ask<MessageShown[]>(
      'mutation ($id: ID!) { pullWebhookMessages(webhookId: $id, leaseSeconds: 10) { id body } }',
      { id: webhook.id },
    );
  const acknowledge = (ids: string[]) =>
    ask<number>(
      'mutation ($id: ID!, $ids: [ID!]!) { acknowledgeWebhookMessages(webhookId: $id, ids: $ids) }',
      { id: webhook.id, ids },
    );
  const told = (messages: readonly MessageShown[]) =>
    messages.map(({ body }) => JSON.parse(body).data.targetId as string).sort();

  const held = await pull();
  expect(told(held)).toEqual([...entries].sort());
  const [done, ...lost] = held.map(({ id }) => id);
  expect(await acknowledge([done!])).toBe(1);
  // The function `restart` kills the gateway process and starts a new one. After the restart, the test pulls the
  // webhook messages like a new client: it uses no data from before the restart.
  ask = await restart();

  const again: MessageShown[] = [];
  const pullMore = async () => again.push(...(await pull()));
  // The test pulls webhook messages only once per second, because an operator's API key can send only 100 requests per
  // minute.
  await expect.poll(pullMore, { interval: 1000 }).toBeGreaterThanOrEqual(lost.length);
  expect(again.map(({ id }) => id).sort()).toEqual([...lost].sort());
  expect(await acknowledge(lost)).toBe(lost.length);
  ask = await restart();

  expect(await pull()).toEqual([]);
  expect(await acknowledge([done!, ...lost])).toBe(0);
});
