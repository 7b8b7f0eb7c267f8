import { afterAll, describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/ids.ts';
import { type EventStream, openEventStream } from '../support/event-stream.ts';
import { everyPermission, newEntry, openTestGateway, type TestGateway } from '../support/harness.ts';
import { startProxy } from '../support/proxy.ts';
import { testServerUrl } from '../support/scratch-database.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });

const statusSubscription = `subscription ($id: ID!) {
  locationStatusChanged(locationId: $id) { locationId state occupied available lastActivityAt } }`;

type StatusStream = EventStream<{ locationStatusChanged: { occupied: number } }>;

/**
 * Waits until the event stream sends a status with the given number of vehicles inside. If the gateway may have missed
 * a change, it sends the current status again, even if the status is unchanged. The function therefore ignores every
 * other status that it receives, until a status contains the given number `occupied`.
 */
async function heard(stream: StatusStream, occupied: number): Promise<void> {
  for (;;) {
    const result = await stream.next();
    if (!result?.data) throw new Error(`The stream ended before a status with ${occupied} vehicles`);
    if (result.data.locationStatusChanged.occupied === occupied) return;
  }
}

/** Subscribes to the status of a location on the given gateway. */
const watch = (key: string, id: string, app: TestGateway['app'] = gateway.app): Promise<StatusStream> =>
  openEventStream(app, { key, query: statusSubscription, variables: { id } });

/** Subscribes to the status of a location, and reads the current status. */
async function watchFromNow(...subscribed: Parameters<typeof watch>): Promise<StatusStream> {
  const stream = await watch(...subscribed);
  expect(await stream.next()).toHaveProperty('data.locationStatusChanged.locationId', subscribed[1]);
  return stream;
}

async function drive(key: string, locationId: string, kind: 'ENTRY' | 'EXIT' = 'ENTRY') {
  const { plateType, plateCode, plateNumber } = newEntry();
  const input = {
    eventId: newId(),
    kind,
    plate: { plateType, plateCode, plateNumber },
    occurredAt: new Date().toISOString(),
  };
  const { body } = await gateway.graph(
    `mutation ($locationId: ID!, $input: ParkingEventInput!) {
      recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
    { key, variables: { locationId, input } },
  );
  expect(body.errors).toBeUndefined();
}

describe('the subscription locationStatusChanged', () => {
  test('the subscription locationStatusChanged sends the current status, and a new status after each parking event and each change of the location', async () => {
    const { key, locationId } = await gateway.newTenant();
    const stream = await watch(key, locationId);
    expect(await stream.next()).toMatchObject({
      data: { locationStatusChanged: { locationId, state: 'AVAILABLE', occupied: 0, available: 10 } },
    });
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.response.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
    await drive(key, locationId);
    expect(await stream.next()).toMatchObject({
      data: { locationStatusChanged: { locationId, state: 'AVAILABLE', occupied: 1, available: 9 } },
    });
    await drive(key, locationId);
    expect((await stream.next())?.data?.locationStatusChanged.occupied).toBe(2);
    await gateway.rest('PUT', `/locations/${locationId}`, { key, body: { capacity: 2 } });
    expect(await stream.next()).toMatchObject({
      data: { locationStatusChanged: { state: 'FULL', available: 0 } },
    });
    await stream.cancel();
  });

  test('the subscription locationStatusChanged sends nothing when another location changes', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const other = await gateway.newLocation(companyId);
    const stream = await watchFromNow(key, locationId);
    await drive(key, other);
    await drive(key, locationId);
    expect(await stream.next()).toMatchObject({
      data: { locationStatusChanged: { locationId, occupied: 1 } },
    });
    await stream.cancel();
  });

  test("locationStatusChanged needs READ_STATUS, and treats a location outside the API key's scope like an unknown location", async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const refusal = async (key: string, id: string) => (await (await watch(key, id)).next())?.errors?.[0];
    const without = everyPermission.filter((permission) => permission !== 'READ_STATUS');
    expect(
      await refusal(await gateway.newKey({ companyIds: [companyId], permissions: without }), locationId),
    ).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
    const { key: foreign } = await gateway.newTenant();
    for (const id of [locationId, newId(), 'x']) {
      expect(await refusal(foreign, id)).toMatchObject({
        extensions: { code: 'NOT_FOUND', details: { field: 'locationId', value: id } },
      });
    }
  });

  test('the subscription locationStatusChanged ends with the error UNAUTHORIZED when its API key is revoked', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId] });
    const stream = await watchFromNow(key, locationId);
    const { body } = await gateway.graph('{ viewer { id } }', { key });
    await gateway.graph('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', {
      key: operator,
      variables: { id: body.data.viewer.id },
    });
    expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHORIZED' } }] });
    expect(await stream.next()).toBeUndefined();
  });

  test('the subscription locationStatusChanged sends no status to a client whose API key has expired', async () => {
    const { companyId, locationId, key: other } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId] });
    const stream = await watchFromNow(key, locationId);
    const { body } = await gateway.graph('{ viewer { id } }', { key });
    const expireSoon = () =>
      gateway.graph(
        'mutation ($id: ID!, $at: DateTime) { updateApiKey(id: $id, input: { expiresAt: $at }) { id } }',
        {
          key: operator,
          variables: { id: body.data.viewer.id, at: new Date(Date.now() + 1000).toISOString() },
        },
      );
    // The test sets the expiry time of the API key to one second in the future. On a busy machine, this time can
    // already be in the past when the request reaches the gateway. If the new expiry time is in the past, the gateway
    // refuses the request.
    await expect.poll(async () => (await expireSoon()).body.errors).toBeUndefined();
    await expect.poll(async () => (await gateway.rest('GET', '/health', { key })).status).toBe(401);
    await drive(other, locationId);
    expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHORIZED' } }] });
    expect(await stream.next()).toBeUndefined();
  });

  test('an API key may have at most 100 open subscriptions', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const streams = await Promise.all(Array.from({ length: 100 }, () => watchFromNow(key, locationId)));
    expect(await (await watch(key, locationId)).next()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    streams.push(await watchFromNow(await gateway.newKey({ companyIds: [companyId] }), locationId));
    await streams.shift()!.cancel();
    // The gateway needs a short time to detect that a client has ended its subscription, so the test may have to
    // subscribe several times.
    streams.push(await vi.waitFor(() => watchFromNow(key, locationId), { timeout: 60_000 }));
    await drive(key, locationId);
    for (const stream of streams)
      expect(await stream.next()).toHaveProperty('data.locationStatusChanged.occupied', 1);
    await Promise.all(streams.map((stream) => stream.cancel()));
  });

  test('the subscription locationStatusChanged ends when the gateway process stops', async () => {
    const scratch = await openTestGateway();
    const { key, locationId } = await scratch.newTenant();
    const stream = await watchFromNow(key, locationId, scratch.app);
    scratch.endStreams();
    expect(await stream.next()).toBeUndefined();
  });

  describe.runIf(testServerUrl && process.env.REDIS_URL)('subscriptions on two gateway processes', () => {
    test('a subscriber on one gateway process gets the new status after parking events on another process, even after a Redis failure', async () => {
      const proxy = await startProxy(process.env.REDIS_URL!);
      afterAll(() => proxy.close());
      const second = await openTestGateway({
        DATABASE_URL: gateway.config.databaseUrl!,
        REDIS_URL: proxy.url,
      });
      const { key, locationId } = await gateway.newTenant();
      const stream = await watchFromNow(key, locationId, second.app);
      await drive(key, locationId);
      await heard(stream, 1);

      proxy.cut();
      await drive(key, locationId);
      proxy.restore();
      await heard(stream, 2);
      await drive(key, locationId);
      await heard(stream, 3);
      await stream.cancel();
    });
  });
});

describe('the subscription locationStatusesChanged', () => {
  const query = `subscription ($ids: [ID!]!) { locationStatusesChanged(locationIds: $ids) { locationId occupied } }`;

  test('the subscription locationStatusesChanged sends the current status of each location, and then each changed status', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    const ids = [locationId, await gateway.newLocation(companyId)];
    const stream = await openEventStream(gateway.app, { key, query, variables: { ids } });
    const results = [await stream.next(), await stream.next()];
    expect(results).toEqual(
      ids.map((id) => ({ data: { locationStatusesChanged: { locationId: id, occupied: 0 } } })),
    );
    await drive(key, ids[1]!);
    expect(await stream.next()).toEqual({
      data: { locationStatusesChanged: { locationId: ids[1], occupied: 1 } },
    });
    await stream.cancel();
  });

  test.each([
    ["a location outside the key's scope", 'NOT_FOUND', async () => [(await gateway.newTenant()).locationId]],
    ['an empty list of locations', 'VALIDATION_ERROR', async () => []],
    ['more than 100 locations', 'VALIDATION_ERROR', async () => Array.from({ length: 101 }, newId)],
  ])('the subscription locationStatusesChanged refuses %s', async (_, code, idsOf) => {
    const { key } = await gateway.newTenant();
    const { body } = await gateway.graph(query, { key, variables: { ids: await idsOf() } });
    expect(body.errors[0].extensions.code).toBe(code);
  });
});
