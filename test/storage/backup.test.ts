import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fencedBlocks, readPages } from '../support/documentation.ts';
import { newEntry, openTestGateway, type TestGateway } from '../support/harness.ts';
import { createScratchDatabase, testServerUrl, withDatabaseName } from '../support/scratch-database.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const pepper = { KEY_PEPPER: 'a pepper of the test of backups 0123456789', WEBHOOK_ALLOW_PRIVATE: 'true' };

/**
 * Returns the commands from docs/production.md that back up a database and restore the backup into an empty database.
 */
function commandsOfThePage(): string {
  const page = readPages().find(({ path }) => path === 'docs/production.md')!;
  return fencedBlocks(page).find(({ text }) => text.includes('pg_restore'))!.text;
}

/** Returns the table partitions of a database, with the bounds of each partition. */
const partitionsOf = ({ database }: TestGateway) =>
  database.prisma.$queryRaw`
    SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_class c
    WHERE c.relispartition AND c.relkind = 'r' ORDER BY c.relname`;

describe.runIf(testServerUrl)('backup of a PostgreSQL database', () => {
  test('the documented backup commands restore data, partitions and secrets into an empty database', async () => {
    const scratch = await createScratchDatabase();
    const source = await openTestGateway(pepper, { database: scratch });
    const { createWebhook } = webhookTools(source);
    const { key, locationId } = await source.newTenant();
    const receiver = await startReceiver();
    const { webhook } = await createWebhook(key, { url: receiver.url, events: ['WHITELIST_DELETED'] });
    await source.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    const list = (gateway: TestGateway) => gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    const entries = (await list(source)).body.data;
    expect(entries).toHaveLength(1);

    const folder = await mkdtemp(join(tmpdir(), 'parking-backup-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const name = `${new URL(scratch.databaseUrl!).pathname.slice(1)}_restored`;
    const restoredUrl = withDatabaseName(scratch.databaseUrl!, name);
    const commands = commandsOfThePage().replaceAll('parking_restored', name);
    await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: scratch.databaseUrl, RESTORED_DATABASE_URL: restoredUrl },
    });

    const database = {
      databaseUrl: restoredUrl,
      dataDir: 'memory://',
      startWaitSeconds: scratch.startWaitSeconds,
      drop: async () => {
        await source.database.prisma.$executeRawUnsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      },
    };
    const restored = await openTestGateway(pepper, { database });
    expect((await list(restored)).body.data).toEqual(entries);
    expect(await partitionsOf(restored)).toEqual(await partitionsOf(source));
    // The restored gateway has the KEY_PEPPER of the original gateway, so it can decrypt the secret of the webhook and
    // sign a message.
    const { body } = await restored.graph('mutation ($id: ID!) { testWebhook(id: $id) { id } }', {
      key,
      variables: { id: webhook.id },
    });
    expect(body.errors).toBeUndefined();
    await expect.poll(() => receiver.messages.length, { timeout: 60_000, interval: 50 }).toBeGreaterThan(0);

    const otherPepper = { KEY_PEPPER: 'another pepper than that of the backup 0123456789' };
    const locked = await openTestGateway(otherPepper, {
      database: { ...database, drop: async () => undefined },
    });
    expect((await list(locked)).status).toBe(401);
  });
});
