import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { everyPermission, openTestGateway, serve } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { freePort } from '../support/system-servers.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);
const { pms, json } = openCommandLine(url);
const { addEntry, createWebhook, skipRetryDelay, prisma } = webhookTools(gateway);

/** Starts `pms listen` in a separate process, and kills the process when the test ends. */
function startListening(key: string, ...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, ['dist/pms.js', ...args], {
    cwd: projectFolder,
    env: { ...process.env, PMS_URL: url, PMS_API_KEY: key },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const listening = {
    child,
    out: '',
    err: '',
    /** Sends a signal to the process (by default SIGINT, like Ctrl-C), and returns the exit code. */
    async end(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
  child.stdout!.on('data', (chunk) => (listening.out += chunk));
  child.stderr!.on('data', (chunk) => (listening.err += chunk));
  return listening;
}

/** Reads the webhooks of a company from the database. */
const webhooksOf = (companyId: string) => prisma.webhook.findMany({ where: { companyId } });

describe('the command pms listen', () => {
  test('pms listen acknowledges a webhook message only when the receiver accepts the message, and deletes its webhook when the command ends', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const receiver = await startReceiver();
    const listening = startListening(
      key,
      'listen',
      '--forward-to',
      receiver.url,
      '--events',
      'whitelist.created,LOCATION_FULL',
    );
    await expect.poll(() => listening.err).toContain('whsec_');
    const [secret] = /whsec_\S+/.exec(listening.err)!;
    const [webhook] = await webhooksOf(companyId);
    expect(webhook).toMatchObject({ delivery: 'PULL', events: ['whitelist.created', 'location.full'] });

    const entry = await addEntry(key, locationId);
    await expect.poll(() => receiver.messages.length).toBe(1);
    const [message] = receiver.messages;
    const said = new Verifier(secret).verify(message!.body, message!.headers as Record<string, string>);
    expect(said).toMatchObject({ type: 'whitelist.created', data: { targetId: entry.id } });
    await expect.poll(() => listening.out).toMatch(/Z {2}whitelist\.created {2}204 {2}\d+ ms\n$/);
    const statuses = async () =>
      (
        await prisma.webhookDelivery.findMany({ where: { webhookId: webhook!.id }, orderBy: { id: 'asc' } })
      ).map(({ status }) => status);
    await expect.poll(statuses).toEqual(['DELIVERED']);

    // When the receiver refuses a webhook message, pms does not acknowledge the message. When the time for which pms
    // reserved the message is over, pms can pull the message again.
    receiver.answer = 500;
    await addEntry(key, locationId);
    await expect.poll(() => listening.out).toContain('whitelist.created  500');
    expect(await statuses()).toEqual(['DELIVERED', 'PENDING']);
    receiver.answer = 204;
    await skipRetryDelay(webhook!.id);
    await expect.poll(statuses).toEqual(['DELIVERED', 'DELIVERED']);

    expect(await listening.end()).toBe(0);
    expect(await webhooksOf(companyId)).toEqual([]);
  });

  test('pms listen subscribes to every event that the API key may read, and deletes its webhook after the signal SIGTERM', async () => {
    const { companyId } = await gateway.newTenant();
    const key = await gateway.newKey({
      companyIds: [companyId],
      permissions: ['MANAGE_WEBHOOKS', 'RECEIVE_WEBHOOKS', 'READ_STATUS'],
    });
    const listening = startListening(
      key,
      '--json',
      'listen',
      '--forward-to',
      `http://127.0.0.1:${await freePort()}/hook`,
    );
    await expect.poll(() => listening.err).toContain('whsec_');
    const [webhook] = await webhooksOf(companyId);
    expect(webhook!.events).toEqual(['location.full', 'location.available', 'webhook.disabled']);
    expect(await json(key, 'trigger', 'location.full')).toMatchObject({ type: 'location.full' });
    await expect.poll(() => listening.out).toContain('\n');
    expect(JSON.parse(listening.out)).toMatchObject({
      event: 'location.full',
      status: null,
      error: 'ECONNREFUSED',
    });
    expect(await listening.end('SIGTERM')).toBe(0);
    expect(await webhooksOf(companyId)).toEqual([]);
  });

  test('pms listen deletes its webhook and exits with code 0 when the program that reads its output ends', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const receiver = await startReceiver();
    const listening = startListening(key, 'listen', '--forward-to', receiver.url);
    await expect.poll(() => listening.err).toContain('whsec_');
    listening.child.stdout!.destroy();
    await addEntry(key, locationId);
    await expect.poll(() => listening.child.exitCode).toBe(0);
    expect(receiver.messages).toHaveLength(1);
    expect(await webhooksOf(companyId)).toEqual([]);
  });

  test.each(['stdout', 'stderr'] as const)(
    'after Ctrl-C, pms listen deletes its webhook, even if the program that reads its %s has ended',
    async (stream) => {
      const { key, companyId, locationId } = await gateway.newTenant();
      const receiver = await startReceiver();
      receiver.answer = 'nothing';
      const listening = startListening(key, 'listen', '--forward-to', receiver.url);
      await expect.poll(() => listening.err).toContain('whsec_');
      await addEntry(key, locationId);
      await expect.poll(() => receiver.messages.length).toBe(1);
      listening.child[stream]!.destroy();
      expect(await listening.end()).toBe(0);
      expect(await webhooksOf(companyId)).toEqual([]);
    },
  );

  test("pms listen creates no webhook if the API key lacks the permission to receive messages, or if the receiver's address is invalid", async () => {
    const { companyId, key } = await gateway.newTenant();
    const permissions = everyPermission.filter((permission) => permission !== 'RECEIVE_WEBHOOKS');
    const without = await gateway.newKey({ companyIds: [companyId], permissions });
    const args = ['listen', '--events', 'location.full', '--forward-to'];
    const refused = await pms(without, ...args, 'http://127.0.0.1:9/hook');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('RECEIVE_WEBHOOKS') });
    expect(await pms(key, ...args, 'hook')).toMatchObject({ code: 2 });
    expect(await webhooksOf(companyId)).toEqual([]);
  });
});

describe('the command pms trigger', () => {
  test('when only one pull webhook subscribes to an event, pms trigger sends the sample message to this webhook', async () => {
    const { key } = await gateway.newTenant();
    const none = await pms(key, 'trigger', 'whitelist.created');
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('start `pms listen`') });
    const input = { delivery: 'PULL', events: ['WHITELIST_CREATED'] };
    const { webhook } = await createWebhook(key, input);
    expect(await json(key, 'trigger', 'whitelist.created')).toMatchObject({
      webhookId: webhook.id,
      type: 'whitelist.created',
      status: 'PENDING',
    });
    const other = await createWebhook(key, input);
    const several = await pms(key, 'trigger', 'WHITELIST_CREATED');
    expect(several).toMatchObject({ code: 1, err: expect.stringContaining(other.webhook.id) });
    const named = await json(key, 'trigger', 'parking.entered', '--webhook', other.webhook.id);
    expect(named).toMatchObject({ webhookId: other.webhook.id, type: 'parking.entered' });
  });
});

test('`pms webhooks create` needs either a URL or the option --pull', async () => {
  const { key } = await gateway.newTenant();
  const create = ['webhooks', 'create'];
  const event = ['--event', 'whitelist.created'];
  expect(await json(key, ...create, '--pull', ...event)).toMatchObject({
    delivery: 'PULL',
    url: null,
    events: ['WHITELIST_CREATED'],
  });
  expect(await pms(key, ...create, ...event)).toMatchObject({ code: 2, err: 'Give a URL or --pull\n' });
  expect(await pms(key, ...create, 'https://203-0-113.example/', '--pull', ...event)).toMatchObject({
    code: 2,
  });
});
