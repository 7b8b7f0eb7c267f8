import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Permission } from '../../prisma/generated/client/enums.ts';
import { hashSecret, newSecret, secretHint } from '../../src/auth/key-secret.ts';
import { loadConfig } from '../../src/config.ts';
import { type Gateway, openGateway } from '../../src/gateway.ts';
import { newId } from '../../src/ids.ts';
import { openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { createScratchDatabase, type ScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

// Values for OPERATOR_API_KEY in the format of the API key secrets that the gateway generates. A secret in another
// format becomes invalid when it is no longer the value of OPERATOR_API_KEY.
const [first, second, third, fourth, fifth] = Array.from({ length: 5 }, () => newSecret('development')) as [
  string,
  string,
  string,
  string,
  string,
];

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

const open: Gateway[] = [];
const closeAll = () => Promise.all(open.splice(0).map((gateway) => gateway.close()));
afterEach(closeAll);

/** Starts a gateway with the database of the test and with the given value of OPERATOR_API_KEY. */
async function start(operatorKey?: string, log = pino({ level: 'silent' })): Promise<Gateway> {
  const env = {
    DATABASE_URL: scratch.databaseUrl,
    DATA_DIR: scratch.dataDir,
    REDIS_URL: process.env.REDIS_URL,
    OPERATOR_API_KEY: operatorKey,
  };
  const gateway = await openGateway(loadConfig(env), log);
  open.push(gateway);
  return gateway;
}

/** Stops the running gateways and starts a new gateway. */
async function restart(operatorKey?: string): Promise<Gateway> {
  await closeAll();
  return start(operatorKey);
}

const statusWith = async ({ app }: Gateway, key: string) =>
  (await app.request('/api/companies', { headers: { 'X-API-Key': key } })).status;

describe('the API key from the variable OPERATOR_API_KEY', () => {
  test('when OPERATOR_API_KEY contains a new API key at the start, the gateway revokes the previous API key', async () => {
    expect(await statusWith(await restart(first), first)).toBe(200);

    const replaced = await restart(second);
    expect(await statusWith(replaced, second)).toBe(200);
    expect(await statusWith(replaced, first)).toBe(401);
    const records = await replaced.database.prisma.auditRecord.findMany({ orderBy: { id: 'asc' } });
    expect(records.map(({ action, requestId }) => [action, requestId])).toEqual([
      ['api_key.created', 'OPERATOR_API_KEY'],
      ['api_key.created', 'OPERATOR_API_KEY'],
      ['api_key.revoked', 'OPERATOR_API_KEY'],
    ]);

    // When a gateway starts again with an earlier value of OPERATOR_API_KEY, the gateway does not revoke the newer API
    // key.
    const late = await restart(first);
    expect(await statusWith(late, first)).toBe(401);
    expect(await statusWith(await restart(second), second)).toBe(200);
  });

  test('the API key from the variable OPERATOR_API_KEY stays valid when an operator removes the variable', async () => {
    await restart(second);
    expect(await statusWith(await restart(), second)).toBe(200);
  });

  test('at each start, the gateway gives the API key from OPERATOR_API_KEY every permission that this gateway version has, and records the change in the audit log', async () => {
    const { database } = await restart(second);
    await database.prisma.apiKey.updateMany({
      where: { fromConfiguration: true },
      data: { permissions: ['ADMIN'] },
    });
    expect(await statusWith(await restart(second), second)).toBe(200);
    const { prisma } = (await restart(second)).database;
    const updates = await prisma.auditRecord.findMany({ where: { action: 'api_key.updated' } });
    expect(updates).toMatchObject([
      {
        requestId: 'OPERATOR_API_KEY',
        changes: {
          before: { permissions: ['ADMIN'] },
          after: { permissions: expect.arrayContaining(Object.values(Permission)) },
        },
      },
    ]);
  });

  test("a change of the variable OPERATOR_API_KEY does not revoke an operator's API key that was created over GraphQL", async () => {
    const { app } = await restart(second);
    const query =
      'mutation { createApiKey(input: { name: "Second operator", permissions: [READ_COMPANIES], unrestricted: true }) { secret } }';
    const response = await app.request('/graphql', {
      method: 'POST',
      headers: { 'X-API-Key': second, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { data } = (await response.json()) as { data: { createApiKey: { secret: string } } };
    const replaced = await restart(third);
    expect(await statusWith(replaced, second)).toBe(401);
    expect(await statusWith(replaced, data.createApiKey.secret)).toBe(200);
  });
});

test.each([
  ['an expired', { unrestricted: true, expiresAt: new Date(Date.now() - 1000) }],
  ['a restricted', { unrestricted: false }],
])(
  "when OPERATOR_API_KEY contains the secret of %s API key, the gateway does not revoke the current operator's key",
  async (_, fields) => {
    const [current, other] = [newSecret('development'), newSecret('development')];
    const { database } = await restart(current);
    const hash = hashSecret(other, loadConfig({}).keyPepper);
    await database.prisma.apiKey.create({
      data: {
        ...{ id: newId(), name: 'Other', environment: 'development', permissions: ['READ_COMPANIES'] },
        ...fields,
        secrets: { create: { id: newId(), hash, hint: secretHint(other) } },
      },
    });
    expect(await statusWith(await restart(other), current)).toBe(200);
  },
);

describe.runIf(testServerUrl && process.env.REDIS_URL)(
  'the variable OPERATOR_API_KEY in several gateway processes',
  () => {
    test('when a second gateway process starts with a new OPERATOR_API_KEY, the first process refuses the old OPERATOR_API_KEY', async () => {
      const earlier = await restart(fourth);
      expect(await statusWith(earlier, fourth)).toBe(200);
      await start(fifth);
      await expect.poll(() => statusWith(earlier, fourth)).toBe(401);
    });

    test('processes that start at the same time with the same OPERATOR_API_KEY create only one API key', async () => {
      await closeAll();
      const value = newSecret('development');
      const gateways = await Promise.all([start(value), start(value), start(value)]);
      for (const gateway of gateways) expect(await statusWith(gateway, value)).toBe(200);
      const alive = { fromConfiguration: true, revokedAt: null };
      expect(await gateways[0].database.prisma.apiKey.count({ where: alive })).toBe(1);
    });
  },
);

describe.runIf(testServerUrl)('an API key that is revoked while a gateway starts', async () => {
  const current = newSecret('development');
  const gateway = await openTestGateway({ OPERATOR_API_KEY: current });
  const { openTransaction, waitingConnections } = locksOf(gateway);

  test('if the new OPERATOR_API_KEY is revoked while a gateway starts with it, the previous OPERATOR_API_KEY stays valid', async () => {
    const next = await gateway.newKey({ unrestricted: true });
    const commit = await openTransaction(
      'UPDATE "ApiKey" SET "revokedAt" = now() WHERE unrestricted AND NOT "fromConfiguration"',
    );
    const config = { ...gateway.config, operatorApiKey: next };
    const starting = openGateway(config, pino({ level: 'silent' }));
    await expect.poll(() => waitingConnections('ApiKey')).toBe(1);
    await commit();
    await (await starting).close();
    expect((await gateway.rest('GET', '/companies', { key: current })).status).toBe(200);
  });
});

// This test needs PostgreSQL, because the embedded database uses the clock of the gateway process.
test.runIf(testServerUrl)(
  'the revocation time of a replaced OPERATOR_API_KEY comes from the database clock, even when the clock of the gateway process is wrong',
  async () => {
    const [former, next] = [newSecret('development'), newSecret('development')];
    const hour = 3_600_000;
    const now = Date.now();
    const ended = { fromConfiguration: true, revokedAt: { gt: new Date(now + hour / 2) } };
    await restart(former);
    vi.useFakeTimers({ toFake: ['Date'], now: now + hour });
    try {
      const { database } = await restart(next);
      expect(await database.prisma.apiKey.count({ where: ended })).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  },
);

test.runIf(testServerUrl)(
  'while PostgreSQL is read-only, a gateway with OPERATOR_API_KEY starts, and warns that it has not checked the key',
  async () => {
    const [current, next] = [newSecret('development'), newSecret('development')];
    await restart(current);
    await closeAll();
    const name = new URL(scratch.databaseUrl!).pathname.slice(1);
    const server = new pg.Client({ connectionString: testServerUrl! });
    await server.connect();
    onTestFinished(async () => {
      await server.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      await server.end();
    });
    await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO on`);
    let lines = '';
    const warnings = pino({ level: 'warn' }, { write: (line) => void (lines += line) });

    const gateway = await start(next, warnings);
    expect(lines).toContain('neither checked nor changed the key of OPERATOR_API_KEY');
    expect(await statusWith(gateway, current)).toBe(200);
    expect(await statusWith(gateway, next)).toBe(401);
  },
);

test.runIf(!testServerUrl)(
  'the first start of an embedded database creates the API key from the variable OPERATOR_API_KEY',
  async () => {
    const env = { DATA_DIR: 'memory://', OPERATOR_API_KEY: first };
    const gateway = await openGateway(loadConfig(env), pino({ level: 'silent' }));
    open.push(gateway);
    expect(await gateway.database.prisma.apiKey.count({ where: { unrestricted: true } })).toBe(1);
  },
);
