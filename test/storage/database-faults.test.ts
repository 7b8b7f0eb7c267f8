import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Database, DatabaseOptions } from '../../src/database/types.ts';
import { waitForServer } from '../../src/database/wait-for-server.ts';
import { newId } from '../../src/ids.ts';
import { withMigratedDatabase } from '../../src/migrated-database.ts';
import { openTestGateway, type TestGateway } from '../support/harness.ts';
import { startProxy } from '../support/proxy.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const silent = pino({ level: 'silent' });
/**
 * Lists the prepared statements of the database connection that runs this SQL statement. If `namedStatements` is itself
 * a prepared statement, the list also contains its name.
 */
const namedStatements = { name: 'named', text: 'SELECT name FROM pg_prepared_statements' };

/** Opens a separate connection to the database. At the end of the test, this connection is closed. */
async function connectTo(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function openScratch(options?: Partial<DatabaseOptions>): Promise<Database & { databaseUrl: string }> {
  const scratch = await createScratchDatabase();
  const database = await openDatabase({ ...scratch, log: silent, ...options });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  return { ...database, databaseUrl: scratch.databaseUrl! };
}

const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };

async function enter(gateway: TestGateway, { key, locationId }: { key: string; locationId: string }) {
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $input: ParkingEventInput!) {
      recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
    {
      key,
      variables: {
        locationId,
        input: { eventId: newId(), kind: 'ENTRY', plate, occurredAt: new Date().toISOString() },
      },
    },
  );
  return body;
}

async function decide(gateway: TestGateway, { key, locationId }: { key: string; locationId: string }) {
  const { body } = await gateway.graph(
    `query ($locationId: ID!, $plate: PlateInput!) { plateAccess(locationId: $locationId, plate: $plate) { reason } }`,
    { key, variables: { locationId, plate } },
  );
  return body;
}

test('a starting gateway tries again when PgBouncer cannot log in to PostgreSQL, but not when PgBouncer rejects a startup parameter', async () => {
  const refused = (message: string) => Object.assign(new Error(message), { code: '08P01' });
  const options = { urlVariable: 'DATABASE_URL', waitSeconds: 3_600, log: silent } as const;
  const answers = [
    () => Promise.reject(refused('server login failed: FATAL the database system is starting up')),
    async () => 'ok',
  ];
  expect(await waitForServer(() => answers.shift()!(), options)).toBe('ok');
  const rejected = waitForServer(
    () => Promise.reject(refused('unsupported startup parameter: statement_timeout')),
    options,
  );
  await expect(rejected).rejects.toThrow(/DATABASE_URL.*statement_timeout/);
});

describe.runIf(testServerUrl)('behaviour of the gateway when PostgreSQL fails', () => {
  test('a gateway process that freezes inside a transaction blocks changes of one location for less than 8 s, and does not block other companies', async () => {
    const gateway = await openTestGateway();
    const [held, other] = await Promise.all([gateway.newTenant(), gateway.newTenant()]);
    const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/frozen-transaction.ts'], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: gateway.config.databaseUrl,
        DATABASE_PREPARE: String(gateway.config.databasePrepare),
        LOCATION_ID: held.locationId,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');

    const waiting = Promise.all(Array.from({ length: 3 }, () => enter(gateway, held)));
    // While the row of one location is locked, the gateway still responds to requests of other companies.
    expect((await enter(gateway, other)).errors).toBeUndefined();
    expect((await decide(gateway, other)).data.plateAccess.reason).toBe('NOT_LISTED');
    expect((await decide(gateway, held)).data.plateAccess.reason).toBe('NOT_LISTED');
    // The requests that wait for the locked row succeed, because the row is unlocked before their lock timeout of 8 s
    // ends.
    expect((await waiting).map(({ errors }) => errors)).toEqual([undefined, undefined, undefined]);
  });

  test('requests that wait for a locked table leave database connections free for gates and health probes', async () => {
    const gateway = await openTestGateway();
    const tenant = await gateway.newTenant();
    const { database } = gateway;
    const [admin, observer] = [
      await connectTo(gateway.config.databaseUrl!),
      await connectTo(gateway.config.databaseUrl!),
    ];
    await admin.query('BEGIN; LOCK TABLE "Webhook" IN ACCESS EXCLUSIVE MODE');
    const stuck = Array.from({ length: 30 }, () => database.prisma.webhook.count().catch(() => 'failed'));
    await vi.waitUntil(async () => {
      const { rows } = await observer.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length === 10; // All 10 connections of the general connection pool wait for the locked table
    }, 10_000);
    // On a busy machine, the database may not answer a health probe within the time limit of 1 s.
    await expect.poll(() => database.state()).toBe('ok');
    await expect.poll(async () => (await gateway.app.request('/readyz')).status).toBe(200);
    expect((await decide(gateway, tenant)).data.plateAccess.reason).toBe('NOT_LISTED');
    await admin.query('COMMIT');
    await Promise.all(stuck);
  });

  test('heavy requests leave database connections free for other requests', async () => {
    const { prisma, heavy } = await openScratch({ poolSize: 3 });
    const sleeping = Array.from({ length: 10 }, () =>
      heavy.sql.query({ name: 'sleep', text: 'SELECT pg_sleep(0.3)' }, []),
    );
    let asleep = true;
    void Promise.all(sleeping).then(() => (asleep = false));
    expect(await prisma.company.count()).toBe(0);
    expect(asleep).toBe(true);
    await Promise.all(sleeping);
  });

  test('the readiness probe reports a database that became read-only, while gates still get decisions', async () => {
    const gateway = await openTestGateway();
    const tenant = await gateway.newTenant();
    const admin = await connectTo(testServerUrl!);
    const name = new URL(gateway.config.databaseUrl!).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO on`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    await expect.poll(() => gateway.database.state()).toBe('read-only');
    const readiness = await gateway.app.request('/readyz');
    expect(await readiness.json()).toMatchObject({ database: 'read-only' });
    expect(readiness.status).toBe(200);
    expect((await decide(gateway, tenant)).data.plateAccess.reason).toBe('NOT_LISTED');
  });

  test('a starting gateway waits for an unreachable database server, and logs the reason', async () => {
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    const proxy = await startProxy(scratch.databaseUrl!);
    onTestFinished(() => proxy.close());
    proxy.cut();
    let text = '';
    const log = pino(
      new Writable({
        write(chunk: Buffer, _, done) {
          text += chunk.toString();
          proxy.restore();
          done();
        },
      }),
    );
    const database = await openDatabase({ ...scratch, databaseUrl: proxy.url, log, startWaitSeconds: 30 });
    onTestFinished(() => database.close());
    expect(await database.state()).toBe('ok');
    expect(text).toContain('PostgreSQL at DATABASE_URL does not answer');
    expect(text).not.toContain('    at ');
  });

  test('a gate waits only a few seconds for a database connection that transfers no data', async () => {
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    const proxy = await startProxy(scratch.databaseUrl!);
    onTestFinished(() => proxy.close());
    const database = await openDatabase({ ...scratch, databaseUrl: proxy.url, log: silent });
    onTestFinished(() => database.close());
    const { sql, prisma } = database.gates;
    const one = { name: 'one', text: 'SELECT 1 AS one' };
    await Promise.all([sql.query(one, []), prisma.$queryRawUnsafe(one.text)]);
    const silentFrom = performance.now();
    proxy.silence();
    const answers = await Promise.allSettled([sql.query(one, []), prisma.$queryRawUnsafe(one.text)]);
    expect(performance.now() - silentFrom).toBeLessThan(15_000);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    proxy.restore();
    expect(await sql.query(one, [])).toEqual([{ one: 1 }]);
  });

  test('a starting gateway fails at once when the database server reports that the database does not exist', async () => {
    const databaseUrl = new URL(testServerUrl!);
    databaseUrl.pathname = '/no_such_database';
    const opened = openDatabase({
      databaseUrl: databaseUrl.href,
      dataDir: 'memory://',
      log: silent,
      startWaitSeconds: 3_600,
    });
    await expect(opened).rejects.toThrow(/DATABASE_URL.*no_such_database/);
  });

  test('with DATABASE_PREPARE=false, the gateway sets timeouts for each transaction, and does not use named SQL statements', async () => {
    const { prisma, sql } = await openScratch({ prepareStatements: false, poolSize: 2 });
    const limits = {
      name: 'limits',
      text: `SELECT name, setting FROM pg_settings
        WHERE name IN ('idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout') ORDER BY name`,
    };
    const settings = (rows: { setting: string }[]) => rows.map(({ setting }) => setting);
    const inTransaction = await prisma.$transaction((transaction) =>
      transaction.$queryRawUnsafe<{ setting: string }[]>(limits.text),
    );
    expect(settings(inTransaction)).toEqual(['5000', '8000', '30000']);
    expect(settings(await sql.query(limits, []))).toEqual(['0', '0', '0']);
    expect(await sql.query(namedStatements, [])).toEqual([]);
  });

  test('with DATABASE_PREPARE=false, the programs that apply migrations use named SQL statements only over a direct connection', async () => {
    const scratch = await createScratchDatabase();
    onTestFinished(() => scratch.drop());
    const { databaseUrl } = scratch;
    for (const direct of [undefined, databaseUrl]) {
      const config = loadConfig({
        ...{ DATABASE_URL: databaseUrl, DIRECT_DATABASE_URL: direct, DATABASE_PREPARE: 'false' },
      });
      await withMigratedDatabase(config, silent, async ({ sql }) => {
        const named = await sql.query<{ name: string }>(namedStatements, []);
        expect(named.some(({ name }) => name === 'named')).toBe(direct !== undefined);
      });
    }
  });
});
