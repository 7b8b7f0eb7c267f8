import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorBody } from '../../rest/envelope.ts';
import { newSecret } from '../../src/auth/key-secret.ts';
import { loadConfig } from '../../src/config.ts';
import { openGateway } from '../../src/gateway.ts';
import { listen } from '../../src/http/listener/server.ts';
import { newId } from '../../src/ids.ts';
import { beginRequest } from '../../src/scheduling/yield.ts';
import { plateOf } from '../support/activity.ts';
import { openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { open } from '../support/raw-connections.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

const operatorKey = newSecret('development');
const silent = pino({ level: 'silent' });

/** Creates a database, and returns the configuration of a gateway that uses this database. */
async function newConfig() {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  return loadConfig({
    DATABASE_URL: scratch.databaseUrl,
    DATA_DIR: scratch.dataDir,
    REDIS_URL: process.env.REDIS_URL,
    OPERATOR_API_KEY: operatorKey,
  });
}

test('a gateway that stops also writes the usage record of a request that is still running', async () => {
  const config = await newConfig();
  const closing = await openGateway(config, silent);
  const answer = closing.app.request('/api/companies', {
    headers: { 'X-API-Key': operatorKey, 'X-Request-Id': 'running-at-the-stop' },
  });
  await closing.close();
  expect((await answer).status).toBe(200);

  const next = await openGateway(config, silent);
  const records = await next.database.prisma.usageRecord.findMany();
  await next.close();
  expect(records).toMatchObject([{ requestId: 'running-at-the-stop', status: 200 }]);
});

test('a gateway that stops logs how many requests without a valid API key it has refused since its last log line', async () => {
  const lines: { msg: string; refused?: object }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const gateway = await openGateway(await newConfig(), log);
  await gateway.app.request('/api/companies');
  await gateway.close();
  expect(lines.filter(({ refused }) => refused)).toMatchObject([{ refused: { UNAUTHORIZED: 1 } }]);
});

test('a gateway that stops waits 2 s for running requests, and then logs once how many requests are still running', async () => {
  const lines: { msg: string; requests?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const gateway = await openGateway(await newConfig(), log);
  lines.length = 0;
  onTestFinished(beginRequest());
  const startedAt = performance.now();
  await gateway.close();
  expect(performance.now() - startedAt).toBeGreaterThan(1_990);
  expect(lines.filter(({ requests }) => requests !== undefined)).toMatchObject([{ requests: 1 }]);
});

describe.runIf(testServerUrl)(
  'a gateway stops while a change of a location waits for the lock of the location',
  async () => {
    const gateway = await openTestGateway();
    const { lock, waitingConnections } = locksOf(gateway);

    test('the gateway writes the usage record of a change that waits for a locked location, even if the client has disconnected', async () => {
      const { key, locationId } = await gateway.newTenant();
      const stopping = await openGateway(gateway.config, silent);
      const listener = await listen(stopping.app, {
        host: '127.0.0.1',
        port: 0,
        portVariable: 'PORT',
        refusalBody: errorBody,
        behindProxy: true,
      });
      const release = await lock([locationId]);
      const body = JSON.stringify({
        query: `mutation ($locationId: ID!, $input: ParkingEventInput!) {
        recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
        variables: {
          locationId,
          input: { eventId: newId(), kind: 'ENTRY', plate: plateOf('DXB/A/7'), occurredAt: new Date() },
        },
      });
      const head = [
        'POST /graphql HTTP/1.1',
        'Host: x',
        `X-API-Key: ${key}`,
        'X-Request-Id: without-a-client',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      const { socket } = await open(
        Number(new URL(listener.url).port),
        `${head.join('\r\n')}\r\n\r\n${body}`,
      );
      await expect.poll(() => waitingConnections()).toBe(1);
      socket.destroy();
      await listener.close();
      setTimeout(() => void release(), 300);
      await stopping.close();

      const records = await gateway.database.prisma.usageRecord.findMany();
      expect(records).toMatchObject([{ requestId: 'without-a-client', status: 200, errorCode: null }]);
    });
  },
);
