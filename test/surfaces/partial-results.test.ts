import { isNonNullType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { newId } from '../../src/ids.ts';
import { newEntry, newSlug, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

/**
 * The gateway executes a GraphQL document with graphql-js the first two times, and compiles the document when it
 * executes the document for the third time.
 */
const executions = ['by graphql-js', 'by graphql-js again', 'compiled', 'compiled again'];

test('every root field of queries and mutations is nullable in the schema', () => {
  const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ name: `${type}.${field.name}`, type: field.type })),
  );
  expect(fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([]);
});

describe('responses in which some root fields fail and others succeed', () => {
  test('when one mutation field of a request fails, the response still contains the data of the successful mutation fields', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    const query = `mutation ($company: ID!, $slug: String!, $other: String!, $here: ID!, $entry: WhitelistEntryInput!) {
      first: createLocation(input: { companyId: $company, name: "A", slug: $slug }) { id slug }
      taken: createLocation(input: { companyId: $company, name: "B", slug: $slug }) { id }
      createWhitelistEntry(locationId: $here, input: $entry) { plateNumber }
      again: createWhitelistEntry(locationId: $here, input: $entry) { id }
      wrong: createLocation(input: { companyId: $company, name: "", slug: "c" }) { id }
      last: createLocation(input: { companyId: $company, name: "D", slug: $other }) { slug }
    }`;
    for (const execution of executions) {
      const entry = newEntry();
      const variables = { company: companyId, slug: newSlug(), other: newSlug(), here: locationId, entry };
      const { status, body } = await gateway.graph(query, { key, variables });
      expect([status, body.data], execution).toEqual([
        200,
        {
          first: { id: expect.any(String), slug: variables.slug },
          taken: null,
          createWhitelistEntry: { plateNumber: entry.plateNumber },
          again: null,
          wrong: null,
          last: { slug: variables.other },
        },
      ]);
      expect(
        body.errors.map((error: { path: string[]; extensions: { code: string } }) => [
          error.path,
          error.extensions.code,
        ]),
      ).toEqual([
        [['taken'], 'CONFLICT'],
        [['again'], 'DUPLICATE_VEHICLE'],
        [['wrong'], 'VALIDATION_ERROR'],
      ]);
    }
  });

  test('when one field of a query fails, all other fields return their data, even if another alias selects the same field', async () => {
    const { locationId, key } = await gateway.newTenant();
    const query = `query ($here: ID!, $away: ID!) {
      here: location(id: $here) { id }
      away: location(id: $away) { id }
      location(id: $here) { id whitelist { totalCount } }
      locations { totalCount }
      whitelist(locationId: $away) { totalCount }
      many: locations(first: 101) { totalCount }
      viewer { name }
    }`;
    for (const execution of executions) {
      const { status, body } = await gateway.graph(query, {
        key,
        variables: { here: locationId, away: newId() },
      });
      expect([status, body.data], execution).toEqual([
        200,
        {
          here: { id: locationId },
          away: null,
          location: { id: locationId, whitelist: { totalCount: 0 } },
          locations: { totalCount: 1 },
          whitelist: null,
          many: null,
          viewer: { name: 'Test' },
        },
      ]);
      const codes = Object.fromEntries(
        body.errors.map((error: { path: string[]; extensions: { code: string } }) => [
          error.path.join(),
          error.extensions.code,
        ]),
      );
      expect(codes).toEqual({ away: 'NOT_FOUND', whitelist: 'NOT_FOUND', many: 'VALIDATION_ERROR' });
    }
  });

  test('when a nested field fails, only the root field that contains the nested field becomes null', async () => {
    const { locationId, key } = await gateway.newTenant();
    const query = `query ($here: ID!) {
      bad: location(id: $here) { id whitelist(first: 0) { totalCount } }
      good: location(id: $here) { id }
    }`;
    for (const execution of executions) {
      const { body } = await gateway.graph(query, { key, variables: { here: locationId } });
      expect(body.data, execution).toEqual({ bad: null, good: { id: locationId } });
      expect(body.errors[0].path).toEqual(['bad', 'whitelist']);
    }
  });
});
