import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, expect, test } from 'vitest';
import { checkLedger, checkMessages, type Queries } from './support/checker.ts';
import { operatorKey, soak, type SoakedGateway, soakMinutes, startSoakedGateway } from './support/soak.ts';
import { newTenant, raiseOperatorLimits } from './support/tenant.ts';

// This test runs one gateway with its embedded database under load for a long time, and causes no faults. The section
// "The soak" in docs/faults.md describes the test.

const dataDir = mkdtempSync(join(tmpdir(), 'soak-embedded-'));
let gateway: SoakedGateway | undefined;

afterAll(async () => {
  await gateway?.process.end('SIGKILL');
  rmSync(dataDir, { recursive: true });
});

/**
 * Opens the embedded database, calls a function with the database, and closes the database. No gateway may run at the
 * same time on this data folder, because only one process can open an embedded database.
 */
async function withDatabase(work: (database: Queries) => Promise<unknown>): Promise<void> {
  const database = await PGlite.create({ dataDir: join(dataDir, 'postgres') });
  await work(database);
  await database.close();
}

const noConnections = async () => ({ databaseConnections: 0, redisConnections: 0 });

test(
  `the memory and the file descriptors of a gateway with an embedded database do not keep growing during ${soakMinutes} minutes of load`,
  async () => {
    gateway = await startSoakedGateway({ DATA_DIR: dataDir });
    await gateway.process.end();
    await withDatabase((database) => raiseOperatorLimits(database, [], operatorKey));
    gateway = await startSoakedGateway({ DATA_DIR: dataDir });
    const { metricsUrl } = gateway;
    const tenant = await newTenant(gateway.url, operatorKey, 'soak');
    const ledger = await soak([gateway], tenant, noConnections);
    await expect
      .poll(async () => (await fetch(metricsUrl)).text(), { interval: 500 })
      .toContain('\ngateway_webhook_backlog 0\n');
    expect(await gateway.process.end()).toBe(0);
    await withDatabase(async (database) => {
      expect(await checkLedger(database, tenant, ledger)).toEqual([]);
      expect(await checkMessages(database, tenant)).toEqual([]);
    });
  },
  (soakMinutes + 5) * 60_000,
);
