import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditActions, isAuditAction, webhookEvents } from '../../src/audit/actions.ts';
import { newId } from '../../src/ids.ts';
import { fencedBlocks, projectFolder, readPages } from '../support/documentation.ts';
import { openTestGateway } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { createWebhook, run, addEntry, deliveriesOf, skipRetryDelay, soon } = webhookTools(gateway);

const page = readPages().find(({ path }) => path === 'docs/webhooks.md')!;

/**
 * The folder in which the tests run the example programs that receive webhook messages. The folder is inside
 * node_modules, so that the receivers find the libraries that they import.
 */
const scratchFolder = join(projectFolder, 'node_modules', '.cache', `receiver-${newId()}`);

/**
 * Starts an example receiver from docs/webhooks.md on a free port, and returns the port and the lines that the receiver
 * prints.
 */
async function startExample([program, ...options]: string[], file: string, source: string, secret: string) {
  await mkdir(scratchFolder, { recursive: true });
  await writeFile(join(scratchFolder, file), source);
  const child = spawn(program!, [...options, join(scratchFolder, file)], {
    cwd: projectFolder,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(scratchFolder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const port = () => /port: (\d+)/.exec(lines.join(' '))?.[1];
  await expect.poll(port, { timeout: 60_000, interval: 50 }).toBeDefined();
  return { port: port()!, lines };
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

const examples = [
  { language: 'ts', command: [process.execPath, '--import', 'tsx'], file: 'receiver.ts' },
  ...(hasPython ? [{ language: 'python', command: ['python3'], file: 'receiver.py' }] : []),
];

describe('the example receivers in docs/webhooks.md', () => {
  test.each(examples)(
    'the documented webhook receiver in $language accepts each message once, and refuses a message that was signed with another secret',
    async ({ language, command, file }) => {
      const [block] = fencedBlocks(page).filter((each) => each.language === language);
      const { key, locationId } = await gateway.newTenant();
      const unused = await startReceiver();
      const { secret, webhook } = await createWebhook(key, {
        url: unused.url,
        events: ['WHITELIST_CREATED'],
      });
      const { port, lines } = await startExample(command, file, block!.text, secret);
      const url = `http://127.0.0.1:${port}/`;
      await run(
        key,
        'mutation ($id: ID!, $url: String) { updateWebhook(id: $id, input: { url: $url }) { id } }',
        {
          id: webhook.id,
          url,
        },
      );
      const other = await createWebhook(key, { url, events: ['WHITELIST_CREATED'] });

      const entry = await addEntry(key, locationId);
      const delivery = async (id: string) => (await deliveriesOf(key, id))[0]!;
      await expect.poll(async () => (await delivery(webhook.id)).status, soon).toBe('DELIVERED');
      await expect
        .poll(async () => (await delivery(other.webhook.id)).attempts, soon)
        .toMatchObject([{ httpStatus: 401 }]);

      await run(key, 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { id } }', {
        id: (await delivery(webhook.id)).id,
      });
      await skipRetryDelay(webhook.id);
      await expect.poll(async () => (await delivery(webhook.id)).attempts.length, soon).toBe(2);
      expect(lines.slice(1).filter((line) => line !== '')).toEqual([`whitelist.created ${entry.id}`]);
    },
  );
});

test.runIf(hasPython)(
  'after a failure, the documented webhook receiver in Python handles the message again when the gateway delivers it again',
  async () => {
    const [block] = fencedBlocks(page).filter(({ language }) => language === 'python');
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const { port } = await startExample(['python3'], 'receiver.py', block!.text, secret);
    const body = '{}'; // The receiver prints the type of each message, and fails because an empty message has no type.
    const now = new Date();
    const headers = {
      'webhook-id': newId(),
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    };
    const signature = new Webhook(secret).sign(headers['webhook-id'], now, body);
    const deliver = () =>
      fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { ...headers, 'webhook-signature': signature },
        body,
      }).then(
        ({ ok }) => ok,
        () => false, // The receiver closes the connection when its work fails.
      );
    expect([await deliver(), await deliver()]).toEqual([false, false]);
  },
);

test('docs/webhooks.md lists every webhook event with the permission that an API key needs to read the event', () => {
  const rows = page.text.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) => {
    const [, names, permission] = row.split('|').map((cell) => cell.trim());
    return [...names!.matchAll(/`([\w.]+)`/g)].map(([, name]) => [name!, permission!] as const);
  });
  expect(documented.filter(([name]) => isAuditAction(name)).toSorted()).toEqual(
    webhookEvents.map((event) => [event, auditActions[event].readPermission] as const).toSorted(),
  );
});
