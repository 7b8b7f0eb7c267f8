import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createNameResolver } from '../../src/webhooks/name-resolver.ts';
import { openTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';
import { startNameServer } from '../support/name-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const nameServer = await startNameServer({
  'receiver.test': ['127.0.0.1'],
  'two.test': ['10.0.0.1', '10.0.0.2'],
});
const gateway = await openTestGateway({
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_DNS_SERVERS: nameServer.address,
});
const { createWebhook, addEntry, deliveriesOf, received, soon } = webhookTools(gateway);

const resolve = createNameResolver({ nameServers: [nameServer.address], hostsPath: '/does/not/exist' });
const patient = new AbortController().signal;

describe('the DNS resolver for webhooks', () => {
  test('the DNS resolver for webhooks returns all addresses that the name server has for a host name', async () => {
    expect((await resolve('two.test', patient)).map(({ address }) => address).toSorted()).toEqual([
      '10.0.0.1',
      '10.0.0.2',
    ]);
  });

  test('the DNS resolver for webhooks returns an error for a host name without an address', async () => {
    await expect(resolve('unknown.test', patient)).rejects.toThrow('unknown.test has no address');
  });

  test('the DNS resolver for webhooks stops at once when the gateway aborts a DNS look-up', async () => {
    const abort = new AbortController();
    const lookup = resolve('aborted.silent.test', abort.signal);
    await expect.poll(() => nameServer.asked, soon).toContain('aborted.silent.test');
    abort.abort(new Error('stopped'));
    await expect(lookup).rejects.toThrow('stopped');
  });

  test(
    'the DNS resolver for webhooks returns an error when the name server does not respond',
    { timeout: 60_000 },
    async () => {
      await expect(resolve('long.silent.test', patient)).rejects.toThrow('did not answer');
    },
  );

  test('the DNS resolver for webhooks resolves localhost and the names in the hosts file without a query to the name server', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parking-hosts-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const hostsPath = join(folder, 'hosts');
    writeFileSync(hostsPath, '10.1.2.3 listed.silent.test\n');
    const withHosts = createNameResolver({ nameServers: [nameServer.address], hostsPath });
    expect(await withHosts('listed.silent.test', patient)).toEqual([{ address: '10.1.2.3', family: 4 }]);
    expect(await withHosts('localhost', patient)).toContainEqual({ address: '127.0.0.1', family: 4 });
    expect(nameServer.asked.filter((name) => /listed|localhost/.test(name))).toEqual([]);
    // When the hosts file changes, the DNS resolver must use the new address at once.
    writeFileSync(hostsPath, '10.1.2.4 listed.silent.test\n');
    expect(await withHosts('listed.silent.test', patient)).toEqual([{ address: '10.1.2.4', family: 4 }]);
  });
});

test.each(['create', 'update'])(
  'the gateway does not %s a webhook when the API key of the request is revoked during the DNS look-up of the host',
  async (operation) => {
    const { key, companyId } = await gateway.newTenant();
    const operator = await gateway.newKey({ unrestricted: true });
    const { webhook } = await createWebhook(key, { url: 'https://two.test/', events: ['WHITELIST_CREATED'] });
    const host = `${operation}.revoked.silent.test`;
    const field =
      operation === 'create'
        ? 'createWebhook(input: { url: $url, events: [WHITELIST_CREATED] }) { secret }'
        : `updateWebhook(id: "${webhook.id}", input: { url: $url }) { id }`;
    const changed = gateway.graph(`mutation ($url: String!) { ${field} }`, {
      key,
      variables: { url: `https://${host}/` },
    });
    await expect.poll(() => nameServer.asked, soon).toContain(host);
    const keys = keyOperations(gateway);
    await keys.revoke(operator, await keys.idOf(key));
    const { body } = await changed;
    expect(body.errors?.[0].extensions.code).toBe('UNAUTHORIZED');
    const webhooks = await gateway.database.prisma.webhook.findMany({ where: { companyId } });
    expect(webhooks.map(({ url }) => url)).toEqual(['https://two.test/']);
  },
);

test('when the name server for the webhooks of one company does not respond, the webhooks of other companies are not delayed', async () => {
  const silent = await gateway.newTenant();
  const other = await gateway.newTenant();
  const names = Array.from({ length: 6 }, (_, index) => `hook-${index}.silent.test`);
  for (const name of names)
    await createWebhook(silent.key, { url: `http://${name}/`, events: ['WHITELIST_CREATED'] });
  nameServer.asked.length = 0;
  await addEntry(silent.key, silent.locationId);
  await expect.poll(() => new Set(nameServer.asked).size, soon).toBe(names.length);

  const receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  const url = `http://receiver.test:${port}/hook`;
  const { webhook } = await createWebhook(other.key, { url, events: ['WHITELIST_CREATED'] });
  await addEntry(other.key, other.locationId);
  await received(receiver, 1);
  await expect
    .poll(async () => (await deliveriesOf(other.key, webhook.id))[0]!.status, soon)
    .toBe('DELIVERED');
});

test.each([
  ['127.0.0.1,[::1]:5353', true],
  ['9.9.9.9:53', true],
  ['dns.example', false],
  ['9.9.9.9,', false],
])('the gateway accepts the value %s of the variable WEBHOOK_DNS_SERVERS: %s', (value, isAccepted) => {
  const load = () => loadConfig({ WEBHOOK_DNS_SERVERS: value });
  if (isAccepted) expect(load().webhookDnsServers).toEqual(value.split(','));
  else expect(load).toThrow('WEBHOOK_DNS_SERVERS must be IP addresses');
});
