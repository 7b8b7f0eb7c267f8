import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { announcedPaths, isAnnounced } from '../../contract/announcements.ts';
import { breakingGraphChanges } from '../../contract/graph-changes.ts';
import type { Document } from '../../contract/openapi-document.ts';
import { breakingRestChanges } from '../../contract/rest-changes.ts';

const releasedSchema = `
  type Query { companies(first: Int): String! company: String! }
  enum Permission { READ WRITE }
  input CompanyInput { name: String! note: String }
`;

describe('breaking changes of the GraphQL schema', () => {
  test.each([
    ['a field is removed', 'company: String!', '', 'Query.company', true],
    ['a field becomes nullable', 'company: String!', 'company: String', 'Query.company', false],
    ['an argument becomes required', 'first: Int', 'first: Int!', 'Query.companies.first', false],
    ['an enum value is removed', 'READ WRITE', 'READ', 'Permission.WRITE', true],
    ['an input field becomes required', 'note: String', 'note: String!', 'CompanyInput.note', false],
  ])(
    'the contract check reports a breaking change of the GraphQL schema when %s',
    async (_, from, to, path, isRemoval) => {
      const changes = await breakingGraphChanges(releasedSchema, releasedSchema.replace(from, to));
      expect(changes).toEqual([{ path, isRemoval, message: expect.any(String) }]);
    },
  );

  test('the contract check accepts additions to the GraphQL schema', async () => {
    const extended = releasedSchema
      .replace('READ WRITE', 'READ WRITE ADMIN')
      .replace('note: String', 'note: String phone: String')
      .replace('company: String!', 'company: String! location: String');
    expect(await breakingGraphChanges(releasedSchema, extended)).toEqual([]);
  });
});

// The tests edit the released OpenAPI document as untyped JSON.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type PlainJson = any;

/** Returns the OpenAPI document of release 1.5.0, changed by the given function. */
function openApi(edit: (document: PlainJson) => void = () => undefined): Document {
  const file = new URL('../../contract/1.5.0/openapi.json', import.meta.url);
  const document: PlainJson = JSON.parse(readFileSync(file, 'utf8'));
  edit(document);
  return document;
}

describe('breaking changes of REST', () => {
  const locations = '/locations';
  const entries = '/locations/{locationId}/whitelist';
  test.each<[string, (document: PlainJson) => void, string]>([
    ['an operation is removed', ({ paths }) => delete paths[locations].post, 'POST /locations'],
    [
      'a parameter becomes required',
      ({ paths }) =>
        (paths[entries].get.parameters.find(({ name }: PlainJson) => name === 'limit').required = true),
      `GET ${entries} parameter limit`,
    ],
    [
      'a status is removed',
      ({ paths }) => delete paths[locations].post.responses[201],
      'POST /locations 201',
    ],
    [
      'a header is removed',
      ({ paths }) => delete paths[locations].get.responses[200].headers['X-RateLimit-Limit'],
      'GET /locations 200 header X-RateLimit-Limit',
    ],
    [
      'a property of a response is removed',
      ({ components }) => delete components.schemas.WhitelistEntry.properties.note,
      `GET ${entries} 200.data[].note`,
    ],
    [
      'a property of a response becomes nullable',
      ({ components }) => (components.schemas.Location.properties.name.type = ['string', 'null']),
      'GET /locations 200.data[].name',
    ],
    [
      'a property of a response becomes optional',
      ({ components }) => components.schemas.Company.required.splice(0, 1),
      'GET /companies 200.data[].id',
    ],
    [
      'a property of a body becomes required',
      ({ components }) => components.schemas.WhitelistEntryInput.required.push('note'),
      `POST ${entries} body.note`,
    ],
    [
      'the maximum length of a text in a body shrinks',
      ({ components }) => (components.schemas.WhitelistEntryInput.properties.note.maxLength = 10),
      `PUT ${entries}/{whitelistId} body.note`,
    ],
  ])('the contract check reports a breaking change of REST when %s', (_, edit, path) => {
    expect(breakingRestChanges(openApi(), openApi(edit)).map((change) => change.path)).toContain(path);
  });

  test('the contract check accepts additions to the REST API, and validation rules that allow more requests than before', () => {
    const extended = openApi(({ paths, components }) => {
      paths['/zones'] = paths[locations];
      paths[locations].get.parameters.push({ name: 'zone', in: 'query', schema: { type: 'string' } });
      components.schemas.WhitelistEntry.properties.color = { type: 'string' };
      components.schemas.WhitelistEntryInput.properties.note.maxLength = 1000;
      components.schemas.WhitelistEntryInput.properties.color = { type: 'string' };
    });
    expect(breakingRestChanges(openApi(), extended)).toEqual([]);
  });
});

describe('announcements of breaking changes in the changelog', () => {
  const announced = announcedPaths(`# Changelog
## Unreleased
### Added
- \`Query.audit\`
### Changed
- **Breaking:** root fields may be null (\`Query.*\`,
  \`GET /locations\`).
## 1.5.0
- **Breaking:** \`Mutation.old\`
`);
  const change = (path: string, isRemoval = false) => ({ path, message: '', isRemoval });

  test('when the changelog announces a breaking change at a path, the contract check allows breaking changes at this path and at all paths below it', () => {
    expect(announced).toEqual(['Query.*', 'GET /locations']);
    expect(isAnnounced(change('GET /locations 200.data[].name'), announced)).toBe(true);
    expect(isAnnounced(change('GET /locations'), announced)).toBe(true);
    expect(isAnnounced(change('GET /locations/status'), announced)).toBe(false);
    expect(isAnnounced(change('Mutation.old'), announced)).toBe(false);
  });

  test('when the changelog announces breaking changes at the path Query.*, the contract check accepts changes to the fields of the type Query, but not the removal of a field', () => {
    expect(isAnnounced(change('Query.companies'), announced)).toBe(true);
    expect(isAnnounced(change('Query.companies', true), announced)).toBe(false);
    expect(isAnnounced(change('Company.name'), announced)).toBe(false);
  });
});
