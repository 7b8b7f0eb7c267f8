import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import {
  CompaniesDocument,
  KeysDocument,
  LocationsDocument,
  WebhooksDocument,
} from './generated/operations.ts';
import { itemsOf, type Page } from './pages.ts';

// Where a command asks for an id, people may say a name: here is how it is found.

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const repeatable = { repeatable: true };

/** Things that can be named, and how. */
interface Named<Item> {
  /** What people call such a thing, such as `location`. */
  kind: string;
  plural: string;
  /** What a thing can be named by, such as `slug or name`. */
  by: string;
  /** The permission that the list takes. */
  permission: string;
  fetchPage: (after: string | null) => Promise<Page<Item>>;
  namesOf: (item: Item) => string[];
}

/**
 * The identifier of what a person named. An identifier is taken as it is.
 *
 * @throws {Failure} when nothing has the name, or several things have it; then it lists them
 */
async function idOf<Item extends { id: string }>(text: string, named: Named<Item>): Promise<string> {
  if (uuid.test(text)) return text;
  const { kind, plural, by, permission, fetchPage, namesOf } = named;
  const found: Item[] = [];
  try {
    for await (const item of itemsOf(fetchPage)) if (namesOf(item).includes(text)) found.push(item);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error;
    throw new Failure(`To find a ${kind} by its ${by} the key needs ${permission}: give its id.`);
  }
  const [only, ...others] = found;
  if (!only) throw new Failure(`No ${kind} that the key reaches has the ${by} ${JSON.stringify(text)}.`);
  if (others.length === 0) return only.id;
  const list = found.map((item) => `  ${item.id}  ${namesOf(item).join('  ')}`);
  throw new Failure(
    [`${JSON.stringify(text)} names ${found.length} ${plural}; give the id of one:`, ...list].join('\n'),
  );
}

/** The id of a location that is named by its id, slug or name. */
export const locationIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'location',
    plural: 'locations',
    by: 'slug or name',
    permission: 'READ_LOCATIONS',
    fetchPage: async (after) => (await client.run(LocationsDocument, { after }, repeatable)).locations,
    namesOf: ({ slug, name }) => [slug, name],
  });

/** The id of a company that is named by its id, slug or name. */
export const companyIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'company',
    plural: 'companies',
    by: 'slug or name',
    permission: 'READ_COMPANIES',
    fetchPage: async (after) => (await client.run(CompaniesDocument, { after }, repeatable)).companies,
    namesOf: ({ slug, name }) => [slug, name],
  });

/** The id of a key that is named by its id or name; a revoked one only by its id. */
export const keyIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'key',
    plural: 'keys',
    by: 'name',
    permission: 'ADMIN',
    fetchPage: async (after) => (await client.run(KeysDocument, { after }, repeatable)).apiKeys,
    namesOf: ({ name, revokedAt }) => (revokedAt ? [] : [name]),
  });

/** The id of a webhook that is named by its id or URL. */
export const webhookIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'webhook',
    plural: 'webhooks',
    by: 'URL',
    permission: 'MANAGE_WEBHOOKS',
    fetchPage: async (after) => (await client.run(WebhooksDocument, { after }, repeatable)).webhooks,
    namesOf: ({ url }) => [url],
  });

/** The ids of several things, in their order; undefined when none are named. */
export async function idsOf(
  find: (client: Client, text: string) => Promise<string>,
  client: Client,
  texts: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (texts === undefined) return undefined;
  const ids: string[] = [];
  for (const text of texts) ids.push(await find(client, text));
  return ids;
}
