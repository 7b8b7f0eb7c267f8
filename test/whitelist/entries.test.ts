import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await sharedTestGateway();

const createDocument = `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) {
    id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil createdAt updatedAt
  } }`;

const create = (locationId: string, input: unknown) => ({
  name: 'create',
  rest: { method: 'POST', path: `/locations/${locationId}/whitelist`, body: input },
  graph: { query: createDocument, variables: { locationId, input } },
});

describe.each(surfaceNames)('creation of a whitelist entry over %s', (surface) => {
  const call = surfaces[surface];
  const entryOf = (body: { data: { createWhitelistEntry?: unknown } }) =>
    surface === 'rest' ? body.data : body.data.createWhitelistEntry;

  test('when a client creates a whitelist entry, the response contains the fields that the client sent, and an id', async () => {
    const { locationId, key } = await gateway.newTenant();
    const input = newEntry({ note: ' kept as sent \n', validFrom: '2026-01-01T00:00:00+04:00' });
    const answer = await call(gateway, create(locationId, input), key);
    expect(entryOf(answer.body)).toMatchObject({
      ...input,
      locationId,
      id: expect.any(String),
      validFrom: '2025-12-31T20:00:00.000Z',
      validUntil: null,
    });
  });

  test.each([
    ['plateType', 'dxb', 'Invalid plate type format'],
    ['plateType', 'DXBXX', 'Invalid plate type format'],
    ['plateCode', 'Black', 'Invalid plate code format'],
    ['plateCode', 'white', 'Invalid plate code format'],
    ['plateNumber', '12a', 'Invalid plate number format'],
    ['plateNumber', '123\n', 'Invalid plate number format'],
    ['plateNumber', '١٢٣', 'Invalid plate number format'],
    ['plateNumber', '1'.repeat(21), 'Invalid plate number format'],
    ['referenceId', undefined, 'Missing required field: referenceId'],
    ['plateType', undefined, 'Missing required field: plateType'],
    ['plateNumber', null, 'Missing required field: plateNumber'],
    ['plateNumber', 7, 'Invalid type for plateNumber: expected string'],
    ['note', 'a\u0000b', 'Must not contain control characters or invalid Unicode'],
    ['note', 'a\ud800b', 'Must not contain control characters or invalid Unicode'],
    ['referenceId', '   ', 'Reference id must not be blank'],
    ['vehicleType', 'x'.repeat(51), 'Must be at most 50 characters'],
    ['vehicleType', '🚗'.repeat(51), 'Must be at most 50 characters'],
  ])('a whitelist entry is refused when its field %s has the value %j', async (field, value, message) => {
    const { locationId, key } = await gateway.newTenant();
    const answer = await call(gateway, create(locationId, newEntry({ [field]: value })), key);
    expect(answer).toMatchObject({
      status: surface === 'rest' ? 400 : 200,
      code: 'VALIDATION_ERROR',
      message,
      details: { field, errors: [{ field, message }] },
    });
    const sent = value === undefined ? null : value;
    expect(answer.details?.value).toBe(typeof sent === 'string' ? sent.toWellFormed() : sent);
  });

  test('the error about an invalid whitelist entry names the first invalid field, and lists all invalid fields', async () => {
    const { locationId, key } = await gateway.newTenant();
    const input = newEntry({ plateNumber: 'x', plateType: 'x', referenceId: undefined });
    const answer = await call(gateway, create(locationId, input), key);
    expect(answer.details).toMatchObject({
      field: 'referenceId',
      value: null,
      errors: [{ field: 'referenceId' }, { field: 'plateType' }, { field: 'plateNumber' }],
    });
  });

  test('when a whitelist entry lacks a field and its validity ends before it starts, the error names both invalid fields', async () => {
    const { locationId, key } = await gateway.newTenant();
    const input = newEntry({
      referenceId: undefined,
      validFrom: '2026-02-01T00:00:00Z',
      validUntil: '2026-01-01T00:00:00Z',
    });
    const answer = await call(gateway, create(locationId, input), key);
    expect(answer.details).toMatchObject({ errors: [{ field: 'referenceId' }, { field: 'validUntil' }] });
  });

  test('a note may contain 500 emoji, although each of these characters has two UTF-16 units', async () => {
    const { locationId, key } = await gateway.newTenant();
    const note = '🚗'.repeat(500);
    const answer = await call(gateway, create(locationId, newEntry({ note })), key);
    expect(entryOf(answer.body)).toMatchObject({ note });
  });

  test('when an error response shortens an invalid value, the shortened value contains only whole characters', async () => {
    const { locationId, key } = await gateway.newTenant();
    const note = `a${'🚗'.repeat(501)}`;
    const answer = await call(gateway, create(locationId, newEntry({ note })), key);
    expect(answer.details).toMatchObject({ field: 'note', value: `a${'🚗'.repeat(199)}` });
  });

  test('a client may omit the seconds of a time', async () => {
    const { locationId, key } = await gateway.newTenant();
    const input = newEntry({ validFrom: '2026-01-31T08:00+04:00' });
    const answer = await call(gateway, create(locationId, input), key);
    expect(entryOf(answer.body)).toMatchObject({ validFrom: '2026-01-31T04:00:00.000Z' });
  });

  test('the gateway refuses a whitelist entry whose validity period ends before it starts', async () => {
    const { locationId, key } = await gateway.newTenant();
    const input = newEntry({ validFrom: '2026-02-01T00:00:00Z', validUntil: '2026-01-01T00:00:00Z' });
    const answer = await call(gateway, create(locationId, input), key);
    expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'validUntil' } });
  });

  test('a plate can be on the whitelist of a location only once', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    const input = newEntry();
    await call(gateway, create(locationId, input), key);
    const again = await call(gateway, create(locationId, input), key);
    const { plateType, plateCode, plateNumber } = input;
    expect(again).toMatchObject({
      status: surface === 'rest' ? 409 : 200,
      code: 'DUPLICATE_VEHICLE',
      details: { plateType, plateCode, plateNumber },
    });
    const elsewhere = await call(gateway, create(await gateway.newLocation(companyId), input), key);
    expect(elsewhere.code).toBeUndefined();
  });

  test('plates that differ only in upper and lower case or in leading zeros are different plates', async () => {
    const { locationId, key } = await gateway.newTenant();
    for (const plate of [
      { plateCode: 'A', plateNumber: '7' },
      { plateCode: 'a', plateNumber: '7' },
      { plateCode: 'A', plateNumber: '007' },
    ]) {
      expect((await call(gateway, create(locationId, newEntry(plate)), key)).code).toBeUndefined();
    }
  });

  test('when 50 concurrent requests add the same plate to a whitelist, exactly one succeeds', async () => {
    const { locationId, key } = await gateway.newTenant();
    const operation = create(locationId, newEntry());
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(gateway, operation, key)));
    const codes = answers.map((answer) => answer.code);
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'DUPLICATE_VEHICLE')).toHaveLength(49);
    const list = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(list.body.data).toHaveLength(1);
  });
});

describe.each(surfaceNames)('changes of a whitelist entry over %s', (surface) => {
  const call = surfaces[surface];
  const update = (locationId: string, id: string, input: unknown) => ({
    name: 'update',
    rest: { method: 'PUT', path: `/locations/${locationId}/whitelist/${id}`, body: input },
    graph: {
      query: `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
        updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) { id note plateNumber } }`,
      variables: { locationId, id, input },
    },
  });
  const remove = (locationId: string, id: string) => ({
    name: 'delete',
    rest: { method: 'DELETE', path: `/locations/${locationId}/whitelist/${id}` },
    graph: {
      query: `mutation ($locationId: ID!, $id: ID!) { deleteWhitelistEntry(locationId: $locationId, id: $id) { id } }`,
      variables: { locationId, id },
    },
  });

  test('when an update of a whitelist entry omits an optional field such as note, the field becomes null', async () => {
    const { locationId, key } = await gateway.newTenant();
    const created = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
    });
    const { note: _, ...input } = newEntry();
    const answer = await call(gateway, update(locationId, created.body.data.id, input), key);
    const entry = surface === 'rest' ? answer.body.data : answer.body.data.updateWhitelistEntry;
    expect(entry).toMatchObject({ note: null, plateNumber: input.plateNumber });
  });

  test('an update that gives a whitelist entry the plate of another entry is refused, and both entries stay unchanged', async () => {
    const { locationId, key } = await gateway.newTenant();
    const path = `/locations/${locationId}/whitelist`;
    const [first, second] = [newEntry(), newEntry()];
    await gateway.rest('POST', path, { key, body: first });
    const created = await gateway.rest('POST', path, { key, body: second });
    const answer = await call(gateway, update(locationId, created.body.data.id, first), key);
    expect(answer).toMatchObject({
      code: 'DUPLICATE_VEHICLE',
      details: { plateNumber: first.plateNumber },
    });
    const list = await gateway.rest('GET', path, { key });
    expect(list.body.data[1]).toMatchObject(second);
  });

  test.each(['unknown', '%00', '%FF', '..%2f', 'x'.repeat(5000)])(
    'an update or a deletion of a whitelist entry with the unknown id %.20s is answered with NOT_FOUND',
    async (raw) => {
      const id = raw === 'unknown' ? newId() : raw;
      const { locationId, key } = await gateway.newTenant();
      for (const operation of [update(locationId, id, newEntry()), remove(locationId, id)]) {
        expect(await call(gateway, operation, key), operation.name).toMatchObject({
          code: 'NOT_FOUND',
          message: 'Whitelist entry not found',
          details: { field: 'whitelistId' },
        });
        const elsewhere = {
          ...operation,
          rest: { ...operation.rest, path: operation.rest.path.replace(locationId, id) },
        };
        if (surface === 'rest') {
          expect(await call(gateway, elsewhere, key)).toMatchObject({ details: { field: 'locationId' } });
        }
      }
    },
  );

  test('a second request to delete a whitelist entry gets the error NOT_FOUND', async () => {
    const { locationId, key } = await gateway.newTenant();
    const created = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
    });
    const operation = remove(locationId, created.body.data.id);
    expect((await call(gateway, operation, key)).code).toBeUndefined();
    expect((await call(gateway, operation, key)).code).toBe('NOT_FOUND');
  });
});

describe('lists of whitelist entries', () => {
  test('REST returns every entry of a whitelist, oldest first, in one response or in several pages', async () => {
    const { locationId, key } = await gateway.newTenant();
    const numbers = Array.from({ length: 250 }, (_, index) => String(index));
    await gateway.database.prisma.whitelistEntry.createMany({
      data: numbers.map((plateNumber) => ({ ...newEntry({ plateNumber }), id: newId(), locationId })),
    });
    const { body } = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(body.success).toBe(true);
    expect(body.data.map((entry: { plateNumber: string }) => entry.plateNumber)).toEqual(numbers);

    const paged: string[] = [];
    let cursor = '';
    do {
      const page = await gateway.rest(
        'GET',
        `/locations/${locationId}/whitelist?limit=100&cursor=${cursor}`,
        { key },
      );
      paged.push(...page.body.data.map((entry: { plateNumber: string }) => entry.plateNumber));
      cursor = page.body.nextCursor;
    } while (cursor);
    expect(paged).toEqual(numbers);
  });

  test.each([0, 1, 250, 251, 1250, 1251])(
    'REST returns the same %i entries of a whitelist in one response as in several pages',
    async (count) => {
      const { locationId, key } = await gateway.newTenant();
      const texts = ['"\\/\t\n', 'مرحبا 🚗', '\u2028\u2029</script>', '', null];
      const instants = [null, new Date(0), new Date('2026-01-31T08:00:00.120Z'), '9999-12-31T23:59:59.999Z'];
      await gateway.database.prisma.whitelistEntry.createMany({
        data: Array.from({ length: count }, (_, index) => ({
          ...newEntry({ plateNumber: String(index), referenceId: texts[index % 3], note: texts[index % 5] }),
          vehicleType: texts[(index + 1) % 5] ?? null,
          validFrom: instants[index % 4] ?? null,
          validUntil: instants[(index + 1) % 4] ?? null,
          id: newId(),
          locationId,
        })),
      });
      for (const list of ['whitelist', 'residents']) {
        const path = `/locations/${locationId}/${list}`;
        const entries: unknown[] = [];
        let cursor = '';
        do {
          const page = await gateway.rest('GET', `${path}?limit=100&cursor=${cursor}`, { key });
          entries.push(...page.body.data);
          cursor = page.body.nextCursor;
        } while (cursor);
        expect(entries).toHaveLength(count);
        const whole = await gateway.app.request(`/api${path}`, { headers: { 'X-API-Key': key } });
        expect(await whole.text()).toBe(JSON.stringify({ success: true, data: entries }));
      }
    },
  );

  test('a whitelist filter finds only entries with exactly the given value; the gateway ignores an empty filter and the second value of a repeated filter', async () => {
    const { locationId, key } = await gateway.newTenant();
    const path = `/locations/${locationId}/whitelist`;
    await gateway.rest('POST', path, { key, body: newEntry({ referenceId: 'a', plateType: 'DXB' }) });
    await gateway.rest('POST', path, { key, body: newEntry({ referenceId: 'b', plateType: 'SHJ' }) });
    const count = async (query: string) =>
      (await gateway.rest('GET', `${path}?${query}`, { key })).body.data.length;
    expect(await count('referenceId=a')).toBe(1);
    expect(await count('referenceId=a&plateType=SHJ')).toBe(0);
    expect(await count('plateType=SHJ')).toBe(1);
    expect(await count('referenceId=')).toBe(2);
    expect(await count('referenceId=nobody')).toBe(0);
    expect(await count('referenceId=a&referenceId=nobody')).toBe(1);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['referenceId=%00', 'referenceId'],
  ])('a whitelist request with the query %s is refused', async (query, field) => {
    const { locationId, key } = await gateway.newTenant();
    const answer = await gateway.rest('GET', `/locations/${locationId}/whitelist?${query}`, { key });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: { field, errors: [{ field }] } } },
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/\b(first|after)\b/);
  });

  test.each([
    ['-1', 'Must be 1 or more', -1],
    ['1000000000000', 'Must be 100 or less', 1_000_000_000_000],
    ['1.5', 'Invalid type for limit: expected int', 1.5],
    ['1e2', 'Invalid type for limit: expected number', '1e2'],
  ])('the error message for the limit %s says which values are valid', async (limit, message, value) => {
    const { locationId, key } = await gateway.newTenant();
    const { body } = await gateway.rest('GET', `/locations/${locationId}/whitelist?limit=${limit}`, { key });
    expect(body.error).toMatchObject({ message, details: { field: 'limit', value } });
  });

  test.each([
    ['breaks a rule', 'limit=0'],
    ['has the wrong type', 'limit=abc'],
  ])(
    'the error of a whitelist request lists every invalid parameter, even when the parameter `limit` %s',
    async (_, limit) => {
      const { locationId, key } = await gateway.newTenant();
      const path = `/locations/${locationId}/whitelist?${limit}&cursor=nonsense&referenceId=%00`;
      const { status, body } = await gateway.rest('GET', path, { key });
      const fields = body.error.details.errors.map(({ field }: { field: string }) => field);
      expect(status).toBe(400);
      expect(fields.toSorted()).toEqual(['cursor', 'limit', 'referenceId']);
      expect(fields[0]).toBe(body.error.details.field);
      expect(JSON.stringify(body)).not.toMatch(/\b(first|after)\b/);
    },
  );

  test('GraphQL clients read a whitelist forward and backward in pages, even while entries are inserted and deleted', async () => {
    const { locationId, key } = await gateway.newTenant();
    const path = `/locations/${locationId}/whitelist`;
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await gateway.rest('POST', path, { key, body: newEntry() })).body.data.id);
    }
    const page = async (args: string) => {
      const { body } = await gateway.graph(
        `{ location(id: "${locationId}") { whitelist(${args}) {
          nodes { id } totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`,
        { key },
      );
      return body.data.location.whitelist;
    };
    const first = await page('first: 2');
    expect(first).toMatchObject({ nodes: [{ id: ids[0] }, { id: ids[1] }], totalCount: 5 });
    await gateway.rest('DELETE', `${path}/${ids[1]}`, { key });
    await gateway.rest('POST', path, { key, body: newEntry() });
    const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(second.nodes).toEqual([{ id: ids[2] }, { id: ids[3] }]);
    const back = await page(`last: 1, before: "${second.pageInfo.startCursor}"`);
    expect(back.nodes).toEqual([{ id: ids[0] }]);
    const last = await page('last: 1');
    expect(last.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
  });
});

describe('the deprecated resident routes', () => {
  test.each([{}, { referenceId: null }])(
    'the deprecated resident route creates a whitelist entry from a request body with the field `residentId` (additional fields: %j)',
    async (others) => {
      const { locationId, key } = await gateway.newTenant();
      const { referenceId, ...rest } = newEntry({ referenceId: 'unit-1' });
      const created = await gateway.rest('POST', `/locations/${locationId}/residents`, {
        key,
        body: { ...rest, ...others, residentId: referenceId },
      });
      expect(created).toMatchObject({
        status: 201,
        body: { data: { referenceId, residentId: referenceId } },
      });
    },
  );

  test.each([
    [{ residentId: 7 }, 'residentId'],
    [{ residentId: null }, 'residentId'],
    [{ residentId: 7, referenceId: null }, 'residentId'],
    [{ residentId: 'unit-1', referenceId: 7 }, 'referenceId'],
    [{}, 'referenceId'],
  ])(
    'an error of the deprecated resident route about the body %j names the invalid or missing field',
    async (sent, field) => {
      const { locationId, key } = await gateway.newTenant();
      const { referenceId: _, ...rest } = newEntry();
      const { body } = await gateway.rest('POST', `/locations/${locationId}/residents`, {
        key,
        body: { ...rest, ...sent },
      });
      expect(body.error.message).toContain(field);
      expect(body.error.details).toMatchObject({ field, errors: [{ field, message: body.error.message }] });
    },
  );

  test('an error about an invalid resident id in the path of a deprecated route names the path parameter `residentId`', async () => {
    const { locationId, key } = await gateway.newTenant();
    const path = `/locations/${locationId}/residents/${'x'.repeat(501)}/vehicles`;
    const { body } = await gateway.rest('GET', path, { key });
    expect(body.error.details).toMatchObject({ field: 'residentId', errors: [{ field: 'residentId' }] });
  });

  test('the deprecated resident routes add the field residentId to each whitelist entry, and their response headers announce the removal of the routes', async () => {
    const { locationId, key } = await gateway.newTenant();
    const { referenceId, ...rest } = newEntry({ referenceId: 'villa 7/a' });
    const residents = `/locations/${locationId}/residents`;
    const created = await gateway.rest('POST', residents, {
      key,
      body: { ...rest, residentId: referenceId },
    });
    expect(created).toMatchObject({ status: 201, body: { data: { referenceId, residentId: referenceId } } });
    const list = await gateway.rest('GET', residents, { key });
    expect(list.body.data).toEqual([created.body.data]);
    const vehicles = await gateway.rest('GET', `${residents}/villa%207%2Fa/vehicles`, { key });
    expect(vehicles.body.data).toEqual([created.body.data]);
    for (const answer of [created, list, vehicles]) {
      expect(answer.headers.get('Deprecation')).toBe('@1756857600');
      expect(new Date(answer.headers.get('Sunset')!).toUTCString()).toBe(answer.headers.get('Sunset'));
      expect(answer.headers.get('Link')).toContain('rel="successor-version"');
    }
    expect(vehicles.headers.get('Link')).toContain(`/whitelist?referenceId=villa%207%2Fa>`);
  });
});
