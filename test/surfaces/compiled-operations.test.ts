import fc from 'fast-check';
import { buildSchema, execute, GraphQLObjectType, parse, validate } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { describe, expect, test } from 'vitest';
import { checkVariables } from '../../src/graphql/check-variables.ts';
import { planOperation, type Variables } from '../../src/graphql/operation-plan.ts';
import { forCoercedVariables } from '../../src/graphql/run-operation.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

// The gateway uses graphql-js for the first two runs of a GraphQL operation. When the gateway runs an operation for the
// third time or later, it uses the code that graphql-jit has compiled for this operation. For some operations,
// graphql-jit would return other data than graphql-js, so the gateway never compiles these operations.

const gateway = await sharedTestGateway();

/**
 * How many times a test sends each operation. If an operation can be compiled, the gateway compiles it when a client
 * sends it for the third time.
 */
const runs = 4;

/** Sends an operation `runs` times and returns the `data` of each response. */
async function answersOf(key: string, query: string, variables: Record<string, unknown>) {
  const answers = [];
  for (let run = 0; run < runs; run += 1) {
    answers.push((await gateway.graph(query, { key, variables })).body.data);
  }
  return answers;
}

const same = <Answer>(answer: Answer) => Array.from({ length: runs }, () => answer);

describe('a GraphQL operation that a client sends several times', () => {
  test('when a client repeats a mutation and omits the variable for a field of a location, the field keeps its value', async () => {
    const { locationId: id, key } = await gateway.newTenant();
    await gateway.rest('PUT', `/locations/${id}`, { key, body: { capacity: 42, address: 'Marina' } });
    const update = `mutation ($id: ID!, $name: String, $capacity: Int, $address: String) {
      updateLocation(id: $id, input: { name: $name, capacity: $capacity, address: $address }) { capacity address } }`;
    expect(await answersOf(key, update, { id, name: 'North' })).toEqual(
      same({ updateLocation: { capacity: 42, address: 'Marina' } }),
    );
  });

  test('when a client repeats a mutation and omits the variable for the permit hours of a whitelist entry, the entry keeps its hours', async () => {
    const { locationId, key } = await gateway.newTenant();
    const body = newEntry();
    const { id } = (await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body })).body
      .data;
    await gateway.graph(
      `mutation ($locationId: ID!, $id: ID!) { setEntryHours(locationId: $locationId, id: $id,
        hours: [{ days: [MONDAY], from: "07:00", to: "08:00" }]) { id } }`,
      { key, variables: { locationId, id } },
    );
    const update = `mutation ($locationId: ID!, $id: ID!, $note: String, $hours: [WeeklyHoursInput!]) {
      updateWhitelistEntry(locationId: $locationId, id: $id, input: { referenceId: "unit", plateType: "DXB",
        plateCode: "A", plateNumber: "${body.plateNumber}", note: $note, hours: $hours }) { hours { from } } }`;
    expect(await answersOf(key, update, { locationId, id, note: 'New note' })).toEqual(
      same({ updateWhitelistEntry: { hours: [{ from: '07:00' }] } }),
    );
  });

  test('when a client repeats a mutation and omits the variable for the expiry of an API key, the key keeps its expiry', async () => {
    const { locationId, key } = await gateway.newTenant();
    const { data } = (
      await gateway.graph(
        `mutation ($locationIds: [ID!]!) { createApiKey(input: { name: "Gate", permissions: [READ_STATUS],
          expiresAt: "2099-01-01T00:00:00Z", locationIds: $locationIds }) { apiKey { id expiresAt } } }`,
        { key, variables: { locationIds: [locationId] } },
      )
    ).body;
    const { id, expiresAt } = data.createApiKey.apiKey;
    const update = `mutation ($id: ID!, $name: String, $expiresAt: DateTime) {
      updateApiKey(id: $id, input: { name: $name, expiresAt: $expiresAt }) { expiresAt } }`;
    expect(await answersOf(key, update, { id, name: 'Gate North' })).toEqual(
      same({ updateApiKey: { expiresAt } }),
    );
  });

  test.each([
    ['a page size', 'query ($first: Int! = 5) { locations(first: $first) { nodes { name } } }'],
    ['a condition', 'query ($brief: Boolean! = false) { locations { nodes { name @skip(if: $brief) } } }'],
  ])(
    'when a client omits the variable for %s, each run of a repeated query uses the default value of the variable',
    async (_, query) => {
      const { key } = await gateway.newTenant();
      const answers = await answersOf(key, query, {});
      expect(answers).toEqual(same({ locations: { nodes: [{ name: expect.any(String) }] } }));
    },
  );

  test('when a repeated query skips a fragment in one field, another field with the same fragment still returns its data', async () => {
    const { locationId, key } = await gateway.newTenant();
    const query = `query ($id: ID!, $brief: Boolean!) {
      a: location(id: $id) { ...Fields @skip(if: $brief) } b: location(id: $id) { ...Fields } }
      fragment Fields on Location { capacity }`;
    const answers = await answersOf(key, query, { id: locationId, brief: true });
    expect(answers).toEqual(same({ a: {}, b: { capacity: answers[0].b.capacity } }));
  });

  test('when a mutation skips a fragment in one place with @include(if: false), the gateway still executes the same fragment in another place', async () => {
    const { locationId, key } = await gateway.newTenant();
    const mutation = `mutation ($id: ID!, $first: Boolean!) { ...Rename @include(if: $first) ...Again }
      fragment Rename on Mutation { updateLocation(id: $id, input: { name: "North" }) { name } }
      fragment Again on Mutation { ...Rename }`;
    expect(await answersOf(key, mutation, { id: locationId, first: false })).toEqual(
      same({ updateLocation: { name: 'North' } }),
    );
  });
});

const schema = buildSchema(`
  scalar Json
  enum Level { LOW HIGH }
  input Filter { size: Int = 5, tags: [String!], level: Level = LOW }
  type Query { node: Node }
  type Node { id: ID!, child: Node, children: [Node!]!, text(filter: Filter, size: Int = 3, level: Level, tags: [String!]): Json }
`);
// The resolver of the field `text` returns its arguments. Two runs with different arguments therefore have different
// responses.
(schema.getType('Node') as GraphQLObjectType).getFields().text!.resolve = (_, parameters: object) =>
  parameters;

/** Creates an object of the GraphQL type `Node` for the test. A child node is created only when a query reads it. */
const node = (id: string): object => ({
  id,
  get child() {
    return node(`${id}c`);
  },
  get children() {
    return [node(`${id}0`), node(`${id}1`)];
  },
});

/**
 * Generates random texts, and chooses a text of the list `usual` 40 times as often as a text of the list `rare`. The
 * texts in `rare` must be rare, because they include texts that prevent the compilation of a GraphQL document.
 */
const mostly = (usual: readonly string[], rare: readonly string[]) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );

const condition = mostly([''], [' @skip(if: $flag)', ' @include(if: $flag)', ' @include(if: true)']);
const argumentsOfText = fc
  .record(
    {
      filter: mostly(
        ['$filter', '{ tags: "a" }', '{ level: HIGH }'],
        ['{ size: $size }', '{ tags: [$tag] }'],
      ),
      size: mostly(['$size', '7', 'null'], ['$pageSize']),
      level: fc.constantFrom('$level', 'HIGH'),
      tags: mostly(['$tags', '"a"'], ['["a", $tag]']),
    },
    { requiredKeys: [] },
  )
  .map((parameters) => {
    const texts = Object.entries(parameters).map(([name, value]) => `${name}: ${value}`);
    return texts.length > 0 ? `(${texts.join(', ')})` : '';
  });

/**
 * Generates a random selection set for an object of the GraphQL type `Node`. `spreads` contains the names of all
 * fragments that the selection set may use.
 */
const selection = (depth: number, spreads: readonly string[]): fc.Arbitrary<string> => {
  const fields = [
    condition.map((directive) => `id${directive}`),
    fc
      .tuple(fc.nat(999), argumentsOfText, condition)
      .map(([alias, parameters, directive]) => `t${alias}: text${parameters}${directive}`),
    ...spreads.map((name) => condition.map((directive) => `...${name}${directive}`)),
    ...(depth === 0
      ? []
      : [
          fc
            .tuple(
              fc.constantFrom('child', 'children', '... on Node'),
              condition,
              selection(depth - 1, spreads),
            )
            .map(([name, directive, inner]) => `${name}${directive} ${inner}`),
        ]),
  ];
  return fc
    .array(fc.oneof(...fields), { minLength: 1, maxLength: 4 })
    .map((texts) => `{ __typename ${texts.join(' ')} }`);
};

/** The GraphQL variables of the generated documents, with their types. */
const variableTypes = {
  flag: 'Boolean!',
  filter: 'Filter',
  size: 'Int',
  pageSize: 'Int! = 9',
  level: 'Level',
  tags: '[String!]',
  tag: 'String! = "b"',
};

const documents = fc
  .tuple(selection(2, ['First', 'Second']), selection(1, []), selection(1, ['First']))
  .map(([root, first, second]) => {
    const body = `{ node ${root} } fragment First on Node ${first} fragment Second on Node ${second}`;
    const definitions = Object.entries(variableTypes).flatMap(([name, type]) =>
      new RegExp(`\\$${name}\\b`).test(body) ? [`$${name}: ${type}`] : [],
    );
    return `query ${definitions.length > 0 ? `(${definitions.join(', ')})` : ''} ${body}`;
  });

const variableValues = fc.record(
  {
    flag: fc.boolean(),
    filter: fc.constantFrom(null, {}, { size: 1 }, { size: null, level: 'HIGH' }, { tags: 'a' }),
    size: fc.constantFrom(null, 1),
    pageSize: fc.constant(2),
    level: fc.constantFrom(null, 'HIGH'),
    tags: fc.constantFrom(null, [], 'a', ['a', 'b']),
    tag: fc.constant('c'),
  },
  { requiredKeys: ['flag'] },
);

test('graphql-jit returns the same data as graphql-js for each operation that the gateway compiles', async () => {
  let compiledOperations = 0;
  await fc.assert(
    fc.asyncProperty(documents, variableValues, async (text, variables) => {
      const source = parse(text);
      if (validate(schema, source).some(({ message }) => !message.includes('never used'))) return;
      const plan = planOperation(schema, source);
      const { document, isCompilable } = plan;
      if (!isCompilable) return;
      const compiled = compileQuery(schema, document);
      if (!isCompiledQuery(compiled)) return;
      compiledOperations += 1;
      const rootValue = { node: node('n') };
      const expected = await execute({ schema, document, rootValue, variableValues: variables });
      const { data } = await compiled.query(rootValue, undefined, { ...variables });
      expect(data).toEqual(expected.data);

      const { coerced } = (await checkVariables(schema, plan, variables)) as { coerced: Variables };
      const compiledForCoerced = compileQuery(...forCoercedVariables(schema, document));
      if (!isCompiledQuery(compiledForCoerced)) throw new Error('graphql-jit cannot compile the operation');
      expect(await compiledForCoerced.query(rootValue, undefined, coerced)).toEqual({ data: expected.data });
    }),
    { numRuns: 200 },
  );
  expect(compiledOperations).toBeGreaterThan(50);
});
