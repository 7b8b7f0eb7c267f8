import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { createPostgres } from '../support/system-servers.ts';
import { importWhitelist, startDisconnects } from './support/disconnects.ts';
import { operatorKey } from './support/fleet.ts';
import { newAccess } from './support/tenant.ts';

/** The number of clients in one test. The two tests of a database together use 3,000 clients. */
const clientCount = 1_500;
/** The maximum number of clients that disconnect during the same imports. */
const clientsOfRound = { count: 300, atOnce: 20 };
const rounds = clientCount / clientsOfRound.count;

/**
 * Opens the database of a gateway. Returns the variables that configure the database, and a function that removes it.
 */
const databases = {
  PostgreSQL: async () => {
    const postgres = await createPostgres();
    await postgres.start();
    return { env: { DATABASE_URL: postgres.url }, remove: () => postgres.remove() };
  },
  'the embedded database': async () => ({ env: { DATA_DIR: 'memory://' }, remove: async () => {} }),
};

describe.each(Object.entries(databases))('a gateway on %s', (_, open) => {
  // CORS middleware creates a new response around each stream, so the test runs with and without CORS.
  test.each<Record<string, string>>([{}, { CORS_ORIGINS: 'https://app.example' }])(
    `the gateway survives ${clientCount} clients that disconnect at the first bytes during repeated imports of 10,000 rows, with %j`,
    { timeout: 900_000 },
    async (settings) => {
      const { env, remove } = await open();
      const gateway = startGatewayProcess({ OPERATOR_API_KEY: operatorKey, ...env, ...settings });
      onTestFinished(async () => {
        await gateway.end('SIGKILL');
        await remove();
      });
      const url = await gateway.listening();
      const tenant = await newAccess(url, operatorKey, 'disconnects');
      await importWhitelist(url, tenant, 'before');

      let imports = 0;
      for (let round = 0; round < rounds; round += 1) {
        const disconnects = startDisconnects(url, tenant, clientsOfRound);
        do await importWhitelist(url, tenant, `${imports++}`);
        while (disconnects.count() < clientsOfRound.count);
        await disconnects.left;
      }
      console.log({ clients: clientCount, imports });

      expect(gateway.output()).not.toContain('"level":60');
      expect(gateway.output()).not.toContain('list response was cut');
      expect(gateway.child.exitCode).toBeNull();
      await importWhitelist(url, tenant, 'after');
      expect(await gateway.end()).toBe(0);
    },
  );
});
