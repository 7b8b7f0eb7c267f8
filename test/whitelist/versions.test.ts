import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, newSlug, sharedTestGateway } from '../support/harness.ts';
import { letChangesWait } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { type Operation, surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await sharedTestGateway();

/** Creates a company with a location that has one whitelist entry. */
async function newWhitelist() {
  const tenant = await gateway.newTenant();
  const path = `/locations/${tenant.locationId}`;
  const created = await gateway.rest('POST', `${path}/whitelist`, { key: tenant.key, body: newEntry() });
  return { ...tenant, path, created, id: created.body.data.id as string };
}

interface Target {
  locationId: string;
  id: string;
}

/** The operations that accept the expected version of an object, each over REST and over GraphQL. */
const changes = {
  'replacing an entry': ({ locationId, id }: Target, expectedVersion?: number): Operation => ({
    name: 'update',
    rest: { method: 'PUT', path: `/locations/${locationId}/whitelist/${id}`, body: newEntry() },
    graph: {
      query: `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!, $expectedVersion: Int) {
        result: updateWhitelistEntry(locationId: $locationId, id: $id, input: $input, expectedVersion: $expectedVersion) { version } }`,
      variables: { locationId, id, input: newEntry(), expectedVersion },
    },
  }),
  'deleting an entry': ({ locationId, id }: Target, expectedVersion?: number): Operation => ({
    name: 'delete',
    rest: { method: 'DELETE', path: `/locations/${locationId}/whitelist/${id}` },
    graph: {
      query: `mutation ($locationId: ID!, $id: ID!, $expectedVersion: Int) {
        result: deleteWhitelistEntry(locationId: $locationId, id: $id, expectedVersion: $expectedVersion) { version } }`,
      variables: { locationId, id, expectedVersion },
    },
  }),
  'changing a location': ({ locationId }: Target, expectedVersion?: number): Operation => ({
    name: 'location',
    rest: { method: 'PUT', path: `/locations/${locationId}`, body: { name: 'Renamed' } },
    graph: {
      query: `mutation ($locationId: ID!, $input: UpdateLocationInput!, $expectedVersion: Int) {
        result: updateLocation(id: $locationId, input: $input, expectedVersion: $expectedVersion) { version } }`,
      variables: { locationId, input: { name: 'Renamed' }, expectedVersion },
    },
  }),
};
const changeNames = Object.keys(changes) as (keyof typeof changes)[];

const field = { rest: 'If-Match', graph: 'expectedVersion' };

describe.each(changeNames)('the change "%s" when the client sends an expected version', (name) => {
  test.each(surfaceNames)(
    'over %s, a change succeeds when the client expects the current version of the object, and fails when the client expects an older version',
    async (surface) => {
      const target = await newWhitelist();
      // Before the tested change, another client changes the location and the whitelist entry, so that both objects
      // have version 2.
      await gateway.rest('PUT', `${target.path}/whitelist/${target.id}`, {
        key: target.key,
        body: newEntry(),
      });
      await gateway.rest('PUT', target.path, { key: target.key, body: { description: 'North' } });
      const refused = await surfaces[surface](gateway, changes[name](target, 1), target.key, {
        'If-Match': '"1"',
      });
      expect(refused).toMatchObject({
        status: surface === 'rest' ? 412 : 200,
        code: 'CONFLICT',
        details: { field: field[surface], value: 2 },
      });
      const passed = await surfaces[surface](gateway, changes[name](target, 2), target.key, {
        'If-Match': '"2"',
      });
      expect(passed).toMatchObject({ status: 200, code: undefined });
      if (surface === 'graph')
        expect(passed.body.data.result.version).toBe(name === 'deleting an entry' ? 2 : 3);
    },
  );

  test('a change over REST succeeds without the header If-Match, and also when this header is `*`', async () => {
    const withoutVersion: Record<string, string>[] = [{}, { 'If-Match': '*' }];
    for (const headers of withoutVersion) {
      const target = await newWhitelist();
      expect(await surfaces.rest(gateway, changes[name](target), target.key, headers)).toMatchObject({
        status: 200,
      });
    }
  });

  test.each(surfaceNames)(
    'a change over %s is refused when the expected version is malformed',
    async (surface) => {
      const target = await newWhitelist();
      for (const [header, version] of [
        ['1', -1],
        ['"1', 1.5],
        ['"1", "2"', 3_000_000_000],
      ] as const) {
        const operation = changes[name](target, version);
        expect(await surfaces[surface](gateway, operation, target.key, { 'If-Match': header })).toMatchObject(
          {
            code: 'VALIDATION_ERROR',
            details: { field: field[surface] },
          },
        );
      }
    },
  );

  test('a change over REST is refused with status 412 when the ETag in the header If-Match cannot be a version number', async () => {
    const target = await newWhitelist();
    for (const tag of ['W/"1"', '"abc"', '"01"', '"9999999999"']) {
      const answer = await surfaces.rest(gateway, changes[name](target), target.key, { 'If-Match': tag });
      expect(answer).toMatchObject({ status: 412, code: 'CONFLICT', details: { value: 1 } });
    }
  });

  test.each(surfaceNames)(
    'over %s, a change outside the scope of the API key gets NOT_FOUND, even if the expected version is wrong',
    async (surface) => {
      const target = await newWhitelist();
      const { key } = await gateway.newTenant();
      expect(
        await surfaces[surface](gateway, changes[name](target, 9), key, { 'If-Match': '"9"' }),
      ).toMatchObject({ code: 'NOT_FOUND', details: { field: 'locationId' } });
    },
  );
});

describe('versions of locations and whitelist entries', () => {
  test('the ETag in the response to a POST or PUT request is the version of the location or whitelist entry', async () => {
    const { key, path, created, id } = await newWhitelist();
    expect(created.headers.get('ETag')).toBe('"1"');
    expect(created.body.data.version).toBe(1);
    const replaced = await gateway.rest('PUT', `${path}/whitelist/${id}`, { key, body: newEntry() });
    expect(replaced.headers.get('ETag')).toBe('"2"');
    const list = await gateway.rest('GET', `${path}/whitelist`, { key });
    expect(list.body.data).toMatchObject([{ id, version: 2 }]);
    const location = await gateway.rest('POST', '/locations', { key, body: { name: 'A', slug: newSlug() } });
    expect(location.headers.get('ETag')).toBe('"1"');
    const renamed = await gateway.rest('PUT', path, { key, body: { name: 'B' } });
    expect(renamed.headers.get('ETag')).toBe('"2"');
    expect(renamed.body.data.version).toBe(2);
  });

  test('two locations cannot get the same slug, and two entries cannot get the same plate, even when the client sends the correct version', async () => {
    const { key, path, companyId, id } = await newWhitelist();
    const slug = newSlug();
    await gateway.newLocation(companyId, { slug });
    const taken = await gateway.rest('PUT', path, { key, body: { slug }, headers: { 'If-Match': '"1"' } });
    expect(taken).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    const other = newEntry();
    await gateway.rest('POST', `${path}/whitelist`, { key, body: other });
    const duplicate = await gateway.rest('PUT', `${path}/whitelist/${id}`, {
      key,
      body: other,
      headers: { 'If-Match': '"1"' },
    });
    expect(duplicate).toMatchObject({ status: 409, body: { error: { code: 'DUPLICATE_VEHICLE' } } });
  });

  test('a whitelist import increases the version of each entry that the import changes', async () => {
    const { key, locationId, path } = await gateway.newTenant().then((tenant) => ({
      ...tenant,
      path: `/locations/${tenant.locationId}/whitelist`,
    }));
    const entries = [newEntry(), newEntry()];
    for (const mode of ['CREATE', 'UPSERT', 'REPLACE']) {
      const { body } = await gateway.graph(
        `mutation ($id: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode!) {
          importWhitelistEntries(locationId: $id, entries: $entries, mode: $mode) { total } }`,
        { key, variables: { id: locationId, entries: [entries[0], { ...entries[1], note: mode }], mode } },
      );
      expect(body.errors).toBeUndefined();
    }
    const { body } = await gateway.rest('GET', path, { key });
    const versions = body.data.map((entry: { note: string; version: number }) => [entry.note, entry.version]);
    expect(versions.toSorted()).toEqual([
      ['REPLACE', 3],
      ['test', 1],
    ]);
  });

  test('deleting an unknown whitelist entry returns status 404, even when the header If-Match is `*`', async () => {
    const { key, path } = await newWhitelist();
    const answer = await gateway.rest('DELETE', `${path}/whitelist/${newId()}`, {
      key,
      headers: { 'If-Match': '*' },
    });
    expect(answer).toMatchObject({ status: 404, body: { error: { details: { field: 'whitelistId' } } } });
  });
});

describe.runIf(testServerUrl)('concurrent changes that expect the same version, on PostgreSQL', () => {
  test.each(changeNames)(
    'when 20 concurrent changes (%s) expect the same version, exactly one change succeeds',
    async (name) => {
      letChangesWait();
      const target = await newWhitelist();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0
            ? surfaces.rest(gateway, changes[name](target), target.key, { 'If-Match': '"1"' })
            : surfaces.graph(gateway, changes[name](target, 1), target.key),
        ),
      );
      const codes = answers.map(({ code }) => code ?? 'done');
      expect(codes.filter((code) => code === 'done')).toHaveLength(1);
      // The first deletion succeeds, and the concurrent deletions no longer find the whitelist entry.
      const loser = name === 'deleting an entry' ? 'NOT_FOUND' : 'CONFLICT';
      expect(codes.filter((code) => code === loser)).toHaveLength(19);
    },
  );
});
