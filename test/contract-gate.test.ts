import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { announcedPaths, isAnnounced } from '../contract/announcements.ts';
import { breakingGraphChanges } from '../contract/graph-changes.ts';
import type { Document } from '../contract/openapi-document.ts';
import { breakingRestChanges } from '../contract/rest-changes.ts';

const releasedSchema = `
  type Query { companies(first: Int): String! company: String! }
  enum Permission { READ WRITE }
  input CompanyInput { name: String! note: String }
`;

describe('a breaking change of the graph', () => {
  test.each([
    ['a field is gone', 'company: String!', '', 'Query.company', true],
    ['a field may be null', 'company: String!', 'company: String', 'Query.company', false],
    ['an argument is required', 'first: Int', 'first: Int!', 'Query.companies.first', false],
    ['a value of an enum is gone', 'READ WRITE', 'READ', 'Permission.WRITE', true],
    ['an input field is required', 'note: String', 'note: String!', 'CompanyInput.note', false],
  ])('is found when %s', async (_, from, to, path, isRemoval) => {
    const changes = await breakingGraphChanges(releasedSchema, releasedSchema.replace(from, to));
    expect(changes).toEqual([{ path, isRemoval, message: expect.any(String) }]);
  });

  test('is not seen in what is added', async () => {
    const extended = releasedSchema
      .replace('READ WRITE', 'READ WRITE ADMIN')
      .replace('note: String', 'note: String phone: String')
      .replace('company: String!', 'company: String! location: String');
    expect(await breakingGraphChanges(releasedSchema, extended)).toEqual([]);
  });
});

// The released document is edited as plain JSON.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type PlainJson = any;

/** The released OpenAPI document, with one edit. */
function openApi(edit: (document: PlainJson) => void = () => undefined): Document {
  const file = new URL('../contract/1.5.0/openapi.json', import.meta.url);
  const document: PlainJson = JSON.parse(readFileSync(file, 'utf8'));
  edit(document);
  return document;
}

describe('a breaking change of REST', () => {
  const locations = '/locations';
  const entries = '/locations/{locationId}/whitelist';
  test.each<[string, (document: PlainJson) => void, string]>([
    ['an operation is gone', ({ paths }) => delete paths[locations].post, 'POST /locations'],
    [
      'a parameter is required',
      ({ paths }) =>
        (paths[entries].get.parameters.find(({ name }: PlainJson) => name === 'limit').required = true),
      `GET ${entries} parameter limit`,
    ],
    ['a status is gone', ({ paths }) => delete paths[locations].post.responses[201], 'POST /locations 201'],
    [
      'a header is gone',
      ({ paths }) => delete paths[locations].get.responses[200].headers['X-RateLimit-Limit'],
      'GET /locations 200 header X-RateLimit-Limit',
    ],
    [
      'a property of an answer is gone',
      ({ components }) => delete components.schemas.WhitelistEntry.properties.note,
      `GET ${entries} 200.data[].note`,
    ],
    [
      'a property of an answer may be null',
      ({ components }) => (components.schemas.Location.properties.name.type = ['string', 'null']),
      'GET /locations 200.data[].name',
    ],
    [
      'a property of an answer may be missing',
      ({ components }) => components.schemas.Company.required.splice(0, 1),
      'GET /companies 200.data[].id',
    ],
    [
      'a property of a body is required',
      ({ components }) => components.schemas.WhitelistEntryInput.required.push('note'),
      `POST ${entries} body.note`,
    ],
    [
      'a text of a body must be shorter',
      ({ components }) => (components.schemas.WhitelistEntryInput.properties.note.maxLength = 10),
      `PUT ${entries}/{whitelistId} body.note`,
    ],
  ])('is found when %s', (_, edit, path) => {
    expect(breakingRestChanges(openApi(), openApi(edit)).map((change) => change.path)).toContain(path);
  });

  test('is not seen in what is added or loosened', () => {
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

describe('a breaking change is announced', () => {
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

  test('by its path, or by that of what it is a part of, in an unreleased item marked as breaking', () => {
    expect(announced).toEqual(['Query.*', 'GET /locations']);
    expect(isAnnounced(change('GET /locations 200.data[].name'), announced)).toBe(true);
    expect(isAnnounced(change('GET /locations'), announced)).toBe(true);
    expect(isAnnounced(change('GET /locations/status'), announced)).toBe(false);
    expect(isAnnounced(change('Mutation.old'), announced)).toBe(false);
  });

  test('for every field of a type at once, unless the field is gone', () => {
    expect(isAnnounced(change('Query.companies'), announced)).toBe(true);
    expect(isAnnounced(change('Query.companies', true), announced)).toBe(false);
    expect(isAnnounced(change('Company.name'), announced)).toBe(false);
  });
});
