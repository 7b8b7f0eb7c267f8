import { describe, expect, test } from 'vitest';
import { timeZone } from '../../schema/time-zone.ts';
import { newId } from '../../src/ids.ts';
import { everyPermission, newSlug, sharedTestGateway } from '../support/harness.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await sharedTestGateway();

const company = (overrides: Record<string, unknown> = {}) => ({
  name: 'Al Noor Parking, Dubai (L.L.C)',
  slug: newSlug(),
  address: 'Sheikh Zayed Road 1',
  ...overrides,
});

/** Creates nested objects of the given depth. */
const objectOfLevels = (levels: number): object => (levels === 1 ? {} : { a: objectOfLevels(levels - 1) });

const register = (input: unknown) => ({
  name: 'register',
  rest: { method: 'POST', path: '/register/company', body: input },
  graph: {
    query: 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
    variables: { input },
  },
});

const createLocation = (input: unknown) => ({
  name: 'create location',
  rest: { method: 'POST', path: '/locations', body: input },
  graph: {
    query:
      'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id companyId timezone } }',
    variables: { input },
  },
});

const updateLocation = (id: string, input: unknown) => ({
  name: 'update location',
  rest: { method: 'PUT', path: `/locations/${id}`, body: input },
  graph: {
    query:
      'mutation ($id: ID!, $input: UpdateLocationInput!) { updateLocation(id: $id, input: $input) { id name slug capacity } }',
    variables: { id, input },
  },
});

test('the gateway corrects the letter case of every time zone name to the spelling of the IANA database', async () => {
  const { prisma } = gateway.database;
  const listed: { name: string }[] = await prisma.$queryRaw`SELECT name FROM pg_timezone_names`;
  const names = [...listed.map(({ name }) => name), ...Intl.supportedValuesOf('timeZone')].filter(
    (name) => timeZone.safeParse(name).success,
  );
  expect(names.length).toBeGreaterThan(900);
  for (const name of names) {
    expect([name, name.toLowerCase(), name.toUpperCase()].map((sent) => timeZone.parse(sent))).toEqual([
      name,
      name,
      name,
    ]);
  }
});

test('after a mutation has registered a company, the later fields of the mutation use the new scope of the API key', async () => {
  const register = `mutation ($input: RegisterCompanyInput!) {
    registerCompany(input: $input) { id }
    createLocation(input: { name: "Gate", slug: "gate" }) { id companyId company { slug } } }`;
  const first = await gateway.newKey();
  const one = await gateway.graph(register, { key: first, variables: { input: company() } });
  expect(one.body.errors).toBeUndefined();
  expect(one.body.data.createLocation.companyId).toBe(one.body.data.registerCompany.id);
  expect(one.body.data.createLocation.company).not.toBeNull();
  const two = await gateway.graph(register, { key: first, variables: { input: company() } });
  expect(two.body.errors).toMatchObject([
    { path: ['createLocation'], extensions: { details: { field: 'companyId' } } },
  ]);
});

describe.each(surfaceNames)('registering a company over %s', (surface) => {
  const call = surfaces[surface];
  const companyIdOf = (body: { data: { companyId: string; registerCompany: { id: string } } }) =>
    surface === 'rest' ? body.data.companyId : body.data.registerCompany.id;

  test('an API key gets access to the company that it registered', async () => {
    const key = await gateway.newKey();
    const answer = await call(gateway, register(company({ settings: { theme: { dark: true } } })), key);
    const listed = await gateway.rest('GET', '/companies', { key });
    expect(listed.body.data).toMatchObject([
      { id: companyIdOf(answer.body), settings: { theme: { dark: true } } },
    ]);
    expect((await call(gateway, createLocation({ name: 'Gate', slug: 'gate' }), key)).code).toBeUndefined();
  });

  test.each([
    ['name', undefined, 'Missing required field: name'],
    ['name', '', 'Company name is required'],
    ['name', ' \t', 'Company name is required'],
    ['name', 'Parking & Co; DROP', 'Company name contains invalid characters'],
    ['name', 'Parking\n', 'Company name contains invalid characters'],
    ['name', 'x'.repeat(101), 'Must be at most 100 characters'],
    ['slug', 'Big', 'Company slug must contain only lowercase letters, numbers, and hyphens'],
    ['slug', '-a', 'Company slug must contain only lowercase letters, numbers, and hyphens'],
    ['slug', 'a--b', 'Company slug must contain only lowercase letters, numbers, and hyphens'],
    ['slug', 'a\n', 'Company slug must contain only lowercase letters, numbers, and hyphens'],
    ['slug', 'x'.repeat(51), 'Must be at most 50 characters'],
    ['address', '  ', 'Business address is required'],
    ['email', 'nobody', 'Must be a valid e-mail address, or empty'],
    ['email', 'first.last@localhost', 'Must be a valid e-mail address, or empty'],
    ['email', 'gate keeper@example.com', 'Must be a valid e-mail address, or empty'],
    ['website', 'javascript:alert(1)', 'Must be a valid http or https URL, or empty'],
    ['phone', '1'.repeat(21), 'Must be at most 20 characters'],
    ['settings', { a: 'x\u0000' }, /^Must be an object of at most 10 levels and 16 KiB of JSON/],
    ['settings', [1], /^Must be an object/],
  ])('registering a company with the field %s set to %j is refused', async (field, value, message) => {
    const answer = await call(gateway, register(company({ [field]: value })), await gateway.newKey());
    expect(answer).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      details: { field },
    });
  });

  test.each([
    ['10 levels', objectOfLevels(10), undefined],
    ['11 levels', objectOfLevels(11), 'VALIDATION_ERROR'],
    ['16 KiB', { a: 'x'.repeat(16 * 1024 - '{"a":""}'.length) }, undefined],
    ['more than 16 KiB', { a: 'é'.repeat(8 * 1024) }, 'VALIDATION_ERROR'],
  ])('the size and depth of the settings of a company are limited: %s', async (_, settings, code) => {
    const answer = await call(gateway, register(company({ settings })), await gateway.newKey());
    expect(answer.code).toBe(code);
  });

  test.each([
    { name: 'شركة المواقف الذكية', slug: 'x' },
    { email: '', website: '', logo: '' },
    { email: 'sales&leasing@example.com' },
    { email: 'gates@parking.xn--mgbaam7a8h' },
    { description: null, phone: null },
    { website: 'https://example.com/a?b=c' },
  ])('a company can be registered with the fields %j', async (fields) => {
    const answer = await call(
      gateway,
      register({ ...company(fields), slug: newSlug() }),
      await gateway.newKey(),
    );
    expect(answer.code).toBeUndefined();
  });

  test('when 50 concurrent requests register a company with the same slug, exactly one request succeeds', async () => {
    const key = await gateway.newKey();
    const operation = register(company());
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(gateway, operation, key)));
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
    const conflicts = answers.filter(({ code }) => code === 'CONFLICT_ERROR');
    expect(conflicts).toHaveLength(49);
    expect(conflicts[0]).toMatchObject({
      status: surface === 'rest' ? 409 : 200,
      message: 'Company slug already exists',
      details: { field: 'slug' },
    });
  });
});

describe.each(surfaceNames)('creating and changing a location over %s', (surface) => {
  const call = surfaces[surface];

  test('creating a location requires companyId only when the API key has several companies', async () => {
    const [first, second] = [await gateway.newCompany(), await gateway.newCompany()];
    const input = () => ({ name: 'Gate', slug: newSlug() });
    const one = await gateway.newKey({ companyIds: [first] });
    expect((await call(gateway, createLocation(input()), one)).code).toBeUndefined();
    const both = await gateway.newKey({ companyIds: [first, second] });
    expect(await call(gateway, createLocation(input()), both)).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'Missing required field: companyId',
      details: { field: 'companyId', value: null },
    });
  });

  test('an API key that is limited to locations or belongs to another company cannot create a location', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const input = { name: 'Gate', slug: newSlug(), companyId };
    const guest = await gateway.newKey({ locationIds: [locationId] });
    expect(await call(gateway, createLocation(input), guest)).toMatchObject({ code: 'FORBIDDEN' });
    const outsider = (await gateway.newTenant()).key;
    const foreign = await call(gateway, createLocation(input), outsider);
    const unknown = await call(gateway, createLocation({ ...input, companyId: newId() }), outsider);
    expect(foreign).toMatchObject({ code: 'FORBIDDEN', details: { field: 'companyId' } });
    expect(unknown.message).toBe(foreign.message);
  });

  test.each([
    ['name', undefined, 'Missing required field: name'],
    ['slug', 'Gate 1', 'Slug must contain only lowercase letters, numbers, and hyphens'],
    ['capacity', -1, 'Must be 0 or more'],
    ['capacity', 1.5, 'Invalid type for capacity: expected int'],
    ['capacity', '5', 'Invalid type for capacity: expected number'],
    ['capacity', 3_000_000_000, 'Must be 2147483647 or less'],
    ['timezone', 'Mars/Olympus', 'Must be an IANA time zone name, such as Asia/Dubai'],
    ['timezone', 'BST', 'Must be an IANA time zone name, such as Asia/Dubai'],
    ['timezone', 'systemv/pst8pdt', 'Must be an IANA time zone name, such as Asia/Dubai'],
  ])(
    'creating or changing a location with the field %s set to %j is refused',
    async (field, value, message) => {
      const { key } = await gateway.newTenant();
      const input = { name: 'Gate', slug: newSlug(), [field]: value };
      expect(await call(gateway, createLocation(input), key)).toMatchObject({
        code: 'VALIDATION_ERROR',
        message,
        details: { field },
      });
    },
  );

  test.each([
    ['asia/dubai', 'Asia/Dubai'],
    ['ASIA/KOLKATA', 'Asia/Kolkata'],
    ['asia/calcutta', 'Asia/Calcutta'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['us/pacific', 'US/Pacific'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['utc', 'UTC'],
  ])(
    'the gateway corrects the letter case of the time zone %s to %s, and never stores another time zone name',
    async (sent, stored) => {
      const { key, locationId } = await gateway.newTenant();
      const { prisma } = gateway.database;
      const slug = newSlug();
      const created = await call(gateway, createLocation({ name: 'Gate', slug, timezone: sent }), key);
      const updated = await call(gateway, updateLocation(locationId, { timezone: sent }), key);
      expect([created.code, updated.code]).toEqual([undefined, undefined]);
      for (const where of [{ slug }, { id: locationId }]) {
        expect(await prisma.location.findFirst({ where })).toMatchObject({ timezone: stored });
      }
    },
  );

  test('a location cannot get the slug of another location of the same company', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    const slug = newSlug();
    await gateway.newLocation(companyId, { slug });
    const conflict = {
      status: surface === 'rest' ? 409 : 200,
      code: 'CONFLICT',
      message: 'Location slug already exists in this company',
      details: { field: 'slug', value: slug },
    };
    expect(await call(gateway, createLocation({ name: 'Gate', slug }), key)).toMatchObject(conflict);
    expect(await call(gateway, updateLocation(locationId, { slug }), key)).toMatchObject(conflict);
    const elsewhere = await gateway.newTenant();
    expect((await call(gateway, createLocation({ name: 'Gate', slug }), elsewhere.key)).code).toBeUndefined();
  });

  test('an update of a location changes only the fields in the request', async () => {
    const { locationId, key } = await gateway.newTenant();
    const answer = await call(gateway, updateLocation(locationId, { capacity: null }), key);
    const location = surface === 'rest' ? answer.body.data : answer.body.data.updateLocation;
    expect(location).toMatchObject({ name: 'Test Location', capacity: null });
  });

  test('an update of a location is refused if the request contains no field to change', async () => {
    const { locationId, key } = await gateway.newTenant();
    expect(await call(gateway, updateLocation(locationId, {}), key)).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'At least one field to change is required',
      details: { field: surface === 'rest' ? 'body' : 'input', value: {} },
    });
    expect(await call(gateway, updateLocation(locationId, { name: null }), key)).toMatchObject({
      message: 'Missing required field: name',
    });
  });
});

describe('companies and locations that an API key can see', () => {
  test('responses contain only companies and locations in the scope of the API key, even in nested GraphQL fields', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const sibling = await gateway.newLocation(companyId);
    const outsider = await gateway.newTenant();
    const guest = await gateway.newKey({ locationIds: [locationId] });
    const { body } = await gateway.graph(
      `{ companies { totalCount nodes { id locations { totalCount nodes { id } } } }
         locations { totalCount nodes { id company { all: locations(last: 100) { nodes { id } } } } }
         locationStatuses { locationId } }`,
      { key: guest },
    );
    expect(body.data).toEqual({
      companies: {
        totalCount: 1,
        nodes: [{ id: companyId, locations: { totalCount: 1, nodes: [{ id: locationId }] } }],
      },
      locations: {
        totalCount: 1,
        nodes: [{ id: locationId, company: { all: { nodes: [{ id: locationId }] } } }],
      },
      locationStatuses: [{ locationId }],
    });
    for (const id of [sibling, outsider.locationId, newId(), 'nonsense']) {
      const answer = await gateway.graph(`{ location(id: "${id}") { id } }`, { key: guest });
      expect(answer.body.errors[0]).toMatchObject({
        message: 'Location not found or not accessible',
        extensions: { code: 'NOT_FOUND', details: { field: 'locationId', value: id } },
      });
    }
    for (const id of [outsider.companyId, newId(), 'nonsense']) {
      const answer = await gateway.graph(`{ company(id: "${id}") { id } }`, { key: guest });
      expect(answer.body.errors[0].extensions.code).toBe('FORBIDDEN');
      const list = await gateway.graph(`{ locations(companyId: "${id}") { nodes { id } } }`, { key: guest });
      expect(list.body.errors[0].extensions.code).toBe('FORBIDDEN');
    }
  });

  test('a search for part of a location name finds the location, and treats the characters % and _ as plain text', async () => {
    const { companyId, key } = await gateway.newTenant();
    const names = [
      'Marina Gate Tower',
      'Marina Walk',
      '50% Mall',
      '50 Mall',
      'Bay_7',
      'Bay 17',
      'Back\\slash',
    ];
    for (const name of names) {
      const id = await gateway.newLocation(companyId);
      await gateway.database.prisma.location.update({ where: { id }, data: { name } });
    }
    const found = async (search: string) => {
      const { body } = await gateway.graph(
        'query ($search: String) { locations(search: $search, first: 1) { totalCount nodes { name } } }',
        { key, variables: { search } },
      );
      return { first: body.data.locations.nodes[0]?.name, count: body.data.locations.totalCount };
    };
    expect(await found('MARINA')).toEqual({ first: 'Marina Gate Tower', count: 2 });
    expect(await found('0%')).toEqual({ first: '50% Mall', count: 1 });
    expect(await found('y_')).toEqual({ first: 'Bay_7', count: 1 });
    expect(await found('k\\s')).toEqual({ first: 'Back\\slash', count: 1 });
    expect(await found('nowhere')).toEqual({ first: undefined, count: 0 });
    expect((await found('')).count).toBe(names.length + 1);
  });

  test('REST lists every location, even when the gateway reads the list in several pages', async () => {
    const companyIds = await Promise.all(Array.from({ length: 105 }, () => gateway.newCompany()));
    const companyId = companyIds[0]!;
    await gateway.database.prisma.$executeRaw`
      INSERT INTO "Location" (id, "companyId", name, slug)
      SELECT '01900000-0000-7000-8000-' || lpad(n::text, 12, '0'), ${companyId}, 'Test Location', 'level-' || n
      FROM generate_series(1, 205) AS n`;
    const key = await gateway.newKey({ companyIds });
    const ids = async (path: string) => {
      const { body } = await gateway.rest('GET', path, { key });
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await ids('/companies')).toEqual([...companyIds].sort());
    expect(await ids('/locations')).toEqual(
      Array.from(
        { length: 205 },
        (_, index) => `01900000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`,
      ),
    );
  });

  test('a mutation changes nothing when the API key lacks the permission to read a field that the mutation selects', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'READ_LOCATIONS'),
    });
    const answer = await gateway.graph(
      `mutation { createWhitelistEntry(locationId: "${locationId}", input: {
        referenceId: "a", plateType: "DXB", plateCode: "A", plateNumber: "1" }) { id location { id } } }`,
      { key },
    );
    expect(answer.body.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(await gateway.database.prisma.whitelistEntry.count({ where: { locationId } })).toBe(0);
  });

  test('in the audit log, an API key that administers one location finds only the changes of this location', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    await gateway.rest('PUT', `/locations/${locationId}`, { key, body: { name: 'Renamed' } });
    await gateway
      .newTenant()
      .then(({ key: other, locationId: id }) =>
        gateway.rest('PUT', `/locations/${id}`, { key: other, body: { name: 'Other' } }),
      );
    const { body } = await gateway.graph(
      '{ auditLog(first: 5) { nodes { action companyId locationId targetId changes requestId } } }',
      { key },
    );
    expect(body.data.auditLog.nodes).toMatchObject([
      {
        action: 'location.updated',
        companyId,
        locationId,
        targetId: locationId,
        changes: { before: { name: 'Test Location' }, after: { name: 'Renamed' } },
      },
    ]);
  });
});
