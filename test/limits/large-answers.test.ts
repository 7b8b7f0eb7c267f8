import { expect, test } from 'vitest';
import { itemsPerPart, createChunkedList } from '../../src/scheduling/chunked-list.ts';
import { sharedTestGateway } from '../support/harness.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();

test('the gateway serializes a long list in chunks, and yields to the event loop between the chunks', async () => {
  const items = Array.from({ length: 2 * itemsPerPart + 1 }, (_, index) => index);
  const shown = createChunkedList(items);
  const isThere = (item: number | Promise<number>) => typeof item === 'number';
  expect(shown.map(isThere)).toEqual(items.map((index) => index < itemsPerPart));
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const turnsAtPart = await Promise.all(
    [0, 1, 2].map(async (part) => {
      await shown[part * itemsPerPart];
      return turns;
    }),
  );
  clearImmediate(counting);
  expect(turnsAtPart[1]).toBeGreaterThan(turnsAtPart[0]!);
  expect(turnsAtPart[2]).toBeGreaterThan(turnsAtPart[1]!);
  expect(await Promise.all(shown)).toEqual(items);
});

test('the gateway reads at most two pages of 500 rows with one SQL statement', async () => {
  const { key, locationId } = await gateway.newTenant();
  const pages = Array.from(
    { length: 5 },
    (_, index) =>
      `a${index}: whitelistChanges(locationId: "${locationId}", first: ${500 - index}) { upserts { id } }`,
  );
  const statements = await statementsOfRequest(() => gateway.graph(`{ ${pages.join(' ')} }`, { key }));
  expect(statements.filter((statement) => statement.includes('"WhitelistEntry"'))).toHaveLength(3);
});

test('a repeated introspection query gets the same response, unless the variables of the query change', async () => {
  const { key } = await gateway.newTenant();
  const ask = (query: string, variables = {}) => gateway.graph(query, { key, variables });
  const question = '{ __type(name: "Company") { name fields { name } } }';
  const [first, second] = [await ask(question), await ask(question)];
  expect(second.body).toEqual(first.body);
  const named = 'query ($name: String!) { __type(name: $name) { name } }';
  for (const name of ['Company', 'Location', 'Company']) {
    expect((await ask(named, { name })).body).toEqual({ data: { __type: { name } } });
  }
});
