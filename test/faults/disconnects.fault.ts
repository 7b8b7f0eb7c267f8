import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { createEmbeddedDatabase } from '../support/scratch-database.ts';
import { createPostgres } from '../support/system-servers.ts';
import { importWhitelist, startDisconnects } from './support/disconnects.ts';
import { operatorKey } from './support/fleet.ts';
import { newAccess } from './support/tenant.ts';

/**
 * The number of clients in one test. For each kind of database, the test runs once with CORS and once without CORS, so
 * 2 × 1,500 clients disconnect.
 */
const clientCount = 1_500;
/**
 * A test starts its clients in several rounds. In each round, the test starts `count` clients, and at most `atOnce` of
 * them are connected at the same time.
 */
const clientsOfRound = { count: 300, atOnce: 40 };
const rounds = clientCount / clientsOfRound.count;

/**
 * Functions that create a database for a gateway. Each function that creates a database returns two properties: `env`
 * contains the environment variables for the gateway, and `remove` is a function that deletes the database.
 */
const databases = {
  PostgreSQL: async () => {
    const postgres = await createPostgres();
    await postgres.start();
    return { env: { DATABASE_URL: postgres.url }, remove: () => postgres.remove() };
  },
  'the embedded database': async () => {
    const { dataDir, drop } = await createEmbeddedDatabase();
    return { env: { DATA_DIR: dataDir }, remove: drop };
  },
};

describe.each(Object.entries(databases))('a gateway with %s', (_, open) => {
  // The CORS middleware creates a new response object for each streamed response. The test therefore runs once with the
  // CORS middleware and once without it.
  test.each<Record<string, string>>([{}, { CORS_ORIGINS: 'https://app.example' }])(
    `during repeated imports of 10,000 rows, the gateway survives ${clientCount} clients that disconnect early (settings: %j)`,
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
