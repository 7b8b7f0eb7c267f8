import { EventEmitter, once } from 'node:events';
import { pino } from 'pino';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/open.ts';
import { createHistoryReads } from '../../src/database/standby-reads.ts';
import type { Connections, Standby } from '../../src/database/types.ts';
import { openTestGateway } from '../support/harness.ts';
import { startProxy } from '../support/proxy.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const log = pino({ level: 'silent' });

test('DATABASE_READ_URL is accepted only together with the URL of the primary database', () => {
  expect(() => loadConfig({ DATABASE_READ_URL: 'postgresql://standby/parking' })).toThrow(
    'DATABASE_READ_URL is the standby of DATABASE_URL',
  );
});

describe.runIf(testServerUrl)('queries that the gateway sends to the standby in DATABASE_READ_URL', () => {
  // Instead of a real standby server, the test uses a second database, which is empty. Because the second database is
  // empty, all rows in a response come from the primary database.
  async function openOverTwo() {
    const other = await createScratchDatabase();
    const proxy = await startProxy(other.databaseUrl!);
    const gateway = await openTestGateway({ DATABASE_READ_URL: proxy.url, OPERATOR_API_KEY: operator });
    afterAll(async () => {
      proxy.close();
      await other.drop();
    });
    return { gateway, proxy };
  }

  const history = `query ($from: DateTime!, $to: DateTime!, $key: ID!) {
    auditLog(first: 1) { totalCount edges { node { action } } }
    apiKey(id: $key) { id usage(from: $from, to: $to) { requests } deprecations { operation } } }`;

  test('the gateway reads API key usage and the audit log from the standby database, and other data from the primary database', async () => {
    const { gateway, proxy } = await openOverTwo();
    const { key, locationId, companyId } = await gateway.newTenant();
    const { body } = await gateway.graph('{ viewer { id } }', { key });
    const hour = 3_600_000;
    const variables = {
      key: body.data.viewer.id,
      from: new Date(Date.now() - hour),
      to: new Date(Date.now() + hour),
    };
    const read = async () => (await gateway.graph(history, { key: operator, variables })).body;
    const usageOf = async () => (await read()).data.apiKey.usage as unknown[];

    const there = await read();
    expect(there.errors).toBeUndefined();
    expect(there.data.auditLog).toEqual({ totalCount: 0, edges: [] });
    expect(there.data.apiKey).toEqual({ id: variables.key, usage: [], deprecations: [] });
    const { body: locations } = await gateway.rest('GET', '/locations', { key });
    expect(locations.data).toMatchObject([{ id: locationId, companyId }]);

    proxy.cut(); // While the standby is unreachable, the gateway reads from the primary
    await expect.poll(async () => (await read()).data.auditLog.totalCount).toBeGreaterThan(0);
    await expect.poll(async () => (await usageOf()).length).toBeGreaterThan(0);

    proxy.restore(); // When the standby is reachable again, the gateway reads from the standby again after some seconds
    await expect.poll(async () => (await read()).data.auditLog.totalCount).toBe(0);
    expect((await read()).errors).toBeUndefined();
  });

  test('when the standby database no longer answers, the gateway can close its database connections although a query on the standby is still running', async () => {
    const [scratch, other] = await Promise.all([createScratchDatabase(), createScratchDatabase()]);
    const proxy = await startProxy(other.databaseUrl!);
    onTestFinished(async () => {
      proxy.close();
      await Promise.all([scratch.drop(), other.drop()]);
    });
    const database = await openDatabase({ ...scratch, readUrl: proxy.url, log });
    const standby = database.standby!;
    const read = () => standby.sql.query({ name: 'one', text: 'SELECT 1 AS one' }, []);
    expect(await read()).toEqual([{ one: 1 }]);
    await standby.probe();
    proxy.silence();
    let hasEnded = false;
    const ended = () => (hasEnded = true);
    read().then(ended, ended);
    await expect(standby.probe()).rejects.toThrow('did not answer within 1000 ms');
    await database.close();
    expect(hasEnded).toBe(false);
  });
});

describe('a read from the standby', () => {
  const primary = {} as Connections;

  test('when the standby database no longer answers health probes, a query that waits for the standby runs on the primary database instead', async () => {
    const standby = { probe: () => Promise.reject(new Error('no answer')) } as unknown as Standby;
    const readHistory = createHistoryReads(standby, log);
    const read = async (from: Connections) => (from === standby ? new Promise(() => undefined) : 'primary');
    expect(await readHistory(read, primary)).toBe('primary');
  });

  test('the gateway lets a slow query run on the standby database as long as the standby answers health probes', async () => {
    const probes = new EventEmitter();
    const standby = { probe: async () => probes.emit('probe') } as unknown as Standby;
    const readHistory = createHistoryReads(standby, log);
    const read = async (from: Connections) => {
      if (from === primary) return 'primary';
      await once(probes, 'probe');
      await once(probes, 'probe');
      return 'standby';
    };
    expect(await readHistory(read, primary)).toBe('standby');
  });
});
