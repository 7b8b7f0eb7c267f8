import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newSlug, openTestGateway } from '../support/harness.ts';
import { surfaceNames } from '../support/surfaces.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });

/** Converts a JSON text to a GraphQL literal, in which member names have no quotes. */
const literalOf = (json: string) => json.replace(/"(\w+)":/g, '$1:');

/**
 * Functions that send company settings in a REST body, in a GraphQL variable or as a GraphQL literal. Each function
 * returns the id of the new company, or the error.
 */
const ways = {
  async rest(settings: string) {
    const key = await gateway.newKey();
    const { body } = await gateway.rest('POST', '/register/company', {
      key,
      body: `{"name":"Test","slug":"${newSlug()}","address":"Dubai","settings":${settings}}`,
    });
    return { key, id: body.data?.companyId as string, error: body.error };
  },
  async graph(settings: string) {
    const key = await gateway.newKey();
    const query = 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }';
    const answer = await gateway.app.request('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: `{"query":${JSON.stringify(query)},"variables":{"input":{"name":"Test","slug":"${newSlug()}","address":"Dubai","settings":${settings}}}}`,
    });
    const body = (await answer.json()) as GraphBody<'registerCompany'>;
    return { key, id: body.data?.registerCompany?.id, error: body.errors?.[0]?.extensions };
  },
  async literal(settings: string) {
    const { key, companyId: id } = await gateway.newTenant();
    const { body } = await gateway.graph(
      `mutation ($id: ID!) { updateCompany(id: $id, input: { settings: ${literalOf(settings)} }) { id } }`,
      { key, variables: { id } },
    );
    return { key, id, error: body.errors?.[0].extensions };
  },
};

type GraphBody<Field extends string> = {
  data?: Partial<Record<Field, { id: string } | null>> | null;
  errors?: { extensions: { code: string; details?: unknown } }[];
};

/** Returns the settings of a company as they appear in REST, in GraphQL and in the audit log. */
async function shown(key: string, id: string) {
  const { body } = await gateway.rest('GET', '/companies', { key });
  const { body: graph } = await gateway.graph('query ($id: ID!) { company(id: $id) { settings } }', {
    key,
    variables: { id },
  });
  const { body: audit } = await gateway.graph('{ auditLog(first: 100) { nodes { action changes } } }', {
    key,
  });
  const [{ action, changes }] = audit.data.auditLog.nodes.filter(({ action }: { action: string }) =>
    action.startsWith('company.'),
  );
  return {
    rest: body.data.find((company: { id: string }) => company.id === id).settings as unknown,
    graph: graph.data.company.settings as unknown,
    audit: (action === 'company.updated' ? changes.after : changes).settings as unknown,
  };
}

const wayNames = Object.keys(ways) as (keyof typeof ways)[];

/**
 * Company settings that the gateway must return unchanged. A name in a GraphQL literal cannot contain a dollar sign.
 * The tests that send company settings as a GraphQL literal therefore skip settings with a dollar sign.
 */
const kept = [
  '{"__proto__":{"a":1},"b":2}',
  '{"a":{"__proto__":[1,{"__proto__":null}]},"list":[{"__proto__":"x"}]}',
  '{"constructor":{"prototype":1},"toJSON":"x","then":1,"hasOwnProperty":false}',
  '{"$type":"Json","value":"{}","nested":{"$type":"Raw","value":1},"prisma__type":"date"}',
  '{"_type":"Json","value":"{}","set":{"a":1},"id":7}',
  '{"max":9007199254740991,"min":-9007199254740991,"third":0.3333333333333333,"tiny":5e-324}',
  '{"large":1.7976931348623157e308,"round":1e21,"long":100000000000000000000,"e":12E-1,"one":1.0}',
  '{"decimal":0.1,"sum":0.30000000000000004,"trailing":0.10000000000000000000000}',
];

describe.each(wayNames)('company settings that a client sends in the form `%s`', (way) => {
  const send = ways[way];

  test.each(kept.filter((settings) => way !== 'literal' || !settings.includes('$')))(
    'the gateway returns the settings of a company unchanged: %s',
    async (settings) => {
      const { key, id, error } = await send(settings);
      expect(error).toBeUndefined();
      const expected = JSON.stringify(sorted(JSON.parse(settings)));
      for (const [surface, value] of Object.entries(await shown(key, id!))) {
        expect(JSON.stringify(sorted(value)), surface).toBe(expected);
      }
    },
  );

  test.each([
    '{"n":12345678901234567890}',
    '{"n":9007199254740993}',
    '{"a":[{"b":[1,0.1234567890123456789]}]}',
    '{"__proto__":{"n":1e400}}',
    '{"n":-1e400}',
    '{"n":1e-400}',
    '{"n":-0}',
    '{"n":-0.0}',
    '{"n": 3.141592653589793238}',
    `{"n":1${'0'.repeat(400)}}`,
  ])(
    'company settings are refused when they contain a number that would lose precision: %s',
    async (settings) => {
      const { error } = await send(settings);
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'settings' } });
    },
  );
});

describe.each(surfaceNames)('random JSON objects that a client sends as company settings over %s', (way) => {
  const json = fc
    .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 })
    .map((value) => JSON.stringify(value))
    .filter((text) => !/\\u00|\\[bfr]|[\u007f-\u009f]|\\ud/.test(text) && text.length < 10_000);

  test('the gateway returns company settings with exactly the members that the client sent', async () => {
    await fc.assert(
      fc.asyncProperty(json, async (settings) => {
        const { key, id, error } = await ways[way](settings);
        expect(error).toBeUndefined();
        const { rest, graph } = await shown(key, id!);
        const expected = JSON.stringify(sorted(JSON.parse(settings)));
        expect(JSON.stringify(sorted(rest))).toBe(expected);
        expect(JSON.stringify(sorted(graph))).toBe(expected);
      }),
      { numRuns: 15 },
    );
  });
});

test('company settings in a GraphQL literal with a variable are refused when a number would lose precision, and are otherwise stored unchanged', async () => {
  const { key, companyId: id } = await gateway.newTenant();
  const update = (number: string) =>
    gateway.graph(
      `mutation ($id: ID!, $nested: JSON) {
        updateCompany(id: $id, input: { settings: { __proto__: { n: ${number} }, nested: [$nested] } }) { settings } }`,
      { key, variables: { id, nested: JSON.parse('{"__proto__":1}') as unknown } },
    );
  for (let sent = 0; sent < 4; sent += 1) {
    const { body } = await update('1.5');
    expect(JSON.stringify(body.data.updateCompany.settings)).toBe(
      '{"nested":[{"__proto__":1}],"__proto__":{"n":1.5}}',
    );
    const refused = await update('1234567890123456789');
    expect(refused.body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'settings' },
    });
  }
});

/**
 * Sends a mutation. `variables` is a JSON text, because `JSON.stringify` cannot write numbers such as
 * 12345678901234567890 exactly.
 */
async function sendMutation(key: string, query: string, variables: string) {
  const answer = await gateway.app.request('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
  });
  return (await answer.json()) as GraphBody<'company'>;
}

/**
 * Mutations whose company settings are a GraphQL literal that contains the variable `$n`. The variable `$id` is the id
 * of the company in `updateCompany`, and the slug of the company in `registerCompany`.
 */
const mutationsWithLiteral = {
  updateCompany: (definition: string, settings: string) =>
    `mutation ($id: ID!, ${definition}) { company: updateCompany(id: $id, input: { settings: ${settings} }) { id } }`,
  registerCompany: (definition: string, settings: string) =>
    `mutation ($id: String!, ${definition}) {
      company: registerCompany(input: { name: "Test", slug: $id, address: "Dubai", settings: ${settings} }) { id } }`,
};

describe.each(['updateCompany', 'registerCompany'] as const)(
  'company settings that %s receives as a GraphQL literal with a variable',
  (mutation) => {
    /**
     * The test cases. Each case consists of four texts: the definition of the variable `$n`, a GraphQL literal with
     * company settings, the value of `$n`, and the settings that the gateway stores. Each test inserts a number into
     * the four texts of a test case, in place of the character `#`. If the inserted number changes when JavaScript
     * parses it and writes it again, the gateway refuses the company settings.
     */
    const forms: [definition: string, literal: string, value: string | undefined, stored: string][] = [
      ['$n: JSON', '{ account: $n }', '#', '{"account":#}'],
      ['$n: JSON', '{ a: [{ b: [1, $n] }] }', '#', '{"a":[{"b":[1,#]}]}'],
      ['$n: Float', '{ account: $n }', '#', '{"account":#}'],
      ['$n: [JSON]', '{ account: $n }', '[1,#]', '{"account":[1,#]}'],
      ['$n: [JSON]', '{ account: $n }', '#', '{"account":[#]}'],
      ['$n: JSON', '{ account: $n }', '{"a":[#]}', '{"account":{"a":[#]}}'],
      ['$n: JSON = #', '{ account: $n }', undefined, '{"account":#}'],
      ['$n: Float = #', '{ account: $n }', undefined, '{"account":#}'],
      ['$n: [JSON] = [1, #]', '{ account: $n }', undefined, '{"account":[1,#]}'],
      ['$n: JSON = { a: [#] }', '{ account: $n }', undefined, '{"account":{"a":[#]}}'],
    ];
    const cases = forms.flatMap((form) =>
      ['12345678901234567890', '-0'].map((number) => [...form, number] as const),
    );

    /**
     * Sends a mutation three times. When the first request arrives, the gateway parses the GraphQL document of the
     * mutation. When a later request contains the same GraphQL document, the gateway does not parse it again.
     */
    async function sendRepeatedly(definition: string, literal: string, value: string | undefined) {
      const { key, companyId } = await gateway.newTenant();
      await gateway.graph(
        'mutation ($id: ID!) { updateCompany(id: $id, input: { settings: { a: 1 } }) { id } }',
        { key, variables: { id: companyId } },
      );
      const bodies: GraphBody<'company'>[] = [];
      for (let sent = 0; sent < 3; sent += 1) {
        const id = mutation === 'updateCompany' ? companyId : newSlug();
        const query = mutationsWithLiteral[mutation](definition, literal);
        bodies.push(await sendMutation(key, query, `{"id":"${id}"${value ? `,"n":${value}` : ''}}`));
      }
      return { key, companyId, bodies };
    }

    test.each(cases)(
      'the gateway refuses company settings in which a number would lose precision (variable %s, settings %s, value %s, settings after parsing %s, number %s)',
      async (definition, literal, value, _, number) => {
        const insert = (text: string) => text.replace('#', number);
        const { key, companyId, bodies } = await sendRepeatedly(
          insert(definition),
          literal,
          value && insert(value),
        );
        for (const { errors } of bodies) {
          expect(errors?.[0]?.extensions).toMatchObject({
            code: 'VALIDATION_ERROR',
            details: { field: 'settings' },
          });
        }
        expect((await shown(key, companyId)).graph).toEqual({ a: 1 });
        const { body } = await gateway.rest('GET', '/companies', { key });
        expect(body.data).toHaveLength(1);
      },
    );

    test.each(forms)(
      'the gateway stores company settings without a change if all numbers keep their precision (variable %s, settings %s, value %s, stored settings %s)',
      async (definition, literal, value, stored) => {
        const insert = (text: string) => text.replace('#', '1234567890123456.5');
        const { key, bodies } = await sendRepeatedly(insert(definition), literal, value && insert(value));
        for (const { data, errors } of bodies) {
          expect(errors).toBeUndefined();
          expect((await shown(key, data!.company!.id)).graph).toEqual(JSON.parse(insert(stored)));
        }
      },
    );
  },
);

test('a GraphQL request may contain a number that would lose precision, as long as this number is not in the company settings', async () => {
  const { key, companyId } = await gateway.newTenant();
  const query = mutationsWithLiteral.updateCompany('$n: JSON = 12345678901234567890', '{ account: $n }');
  const body = await sendMutation(key, query, `{"id":"${companyId}","n":7,"other":12345678901234567890}`);
  expect(body.errors).toBeUndefined();
  expect((await shown(key, companyId)).graph).toEqual({ account: 7 });
});

test('when the gateway refuses company settings in a GraphQL literal, the error shows these settings with the values of their variables', async () => {
  const { key, companyId } = await gateway.newTenant();
  const query = mutationsWithLiteral.updateCompany('$n: JSON = -0', '{ a: 1, account: $n }');
  for (const [variables, account] of [
    [`{"id":"${companyId}","n":12345678901234567890}`, 12345678901234567890],
    [`{"id":"${companyId}"}`, 0],
  ] as const) {
    const { errors } = await sendMutation(key, query, variables);
    expect(errors?.[0]?.extensions.details).toMatchObject({ field: 'settings', value: { a: 1, account } });
  }
});

test('a webhook message contains the settings of a company as the client sent them', async () => {
  const { key, companyId: id } = await gateway.newTenant();
  const input = { url: 'http://127.0.0.1:9/hook', events: ['COMPANY_UPDATED'] };
  const { body: created } = await gateway.graph(
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
    { key, variables: { input } },
  );
  await gateway.graph(
    'mutation ($id: ID!, $input: UpdateCompanyInput!) { updateCompany(id: $id, input: $input) { id } }',
    { key, variables: { id, input: { settings: JSON.parse('{"__proto__":{"a":1}}') as unknown } } },
  );
  const { body } = await gateway.graph(
    'query ($id: ID!) { webhook(id: $id) { deliveries(first: 1) { nodes { body } } } }',
    { key, variables: { id: created.data.createWebhook.webhook.id } },
  );
  expect(body.data.webhook.deliveries.nodes[0].body).toContain('"settings":{"__proto__":{"a":1}}');
});

test('in all fields except company settings, the gateway accepts a JSON number that it cannot store exactly', async () => {
  const { key, locationId } = await gateway.newTenant();
  const answer = await gateway.app.request('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: `{"query":"query ($id: ID!, $confidence: Float) { plateAccess(locationId: $id, reading: { text: \\"A7\\", confidence: $confidence }) { reason } }","variables":{"id":"${locationId}","confidence":0.12345678901234567890}}`,
  });
  expect(await answer.json()).toEqual({ data: { plateAccess: { reason: 'NOT_LISTED' } } });
});

/** Sorts the members of all objects in a JSON value by name, and returns the new value. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, item]) => [name, sorted(item)]));
}
