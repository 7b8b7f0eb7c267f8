import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import {
  CompaniesDocument,
  KeysDocument,
  LocationsDocument,
  WebhooksDocument,
} from './generated/operations.ts';
import { itemsOf, type Page } from './pages.ts';
import { isId, isShortFor } from './short-ids.ts';

// Commands accept a name, or the short id that a table shows, in place of a complete id. This file finds the complete
// id of an object by its name or its short id.

const repeatable = { repeatable: true };

/** A kind of object that users can name, such as locations. */
interface Named<Item> {
  /** The singular noun for the objects, such as `location`. */
  kind: string;
  plural: string;
  /**
   * The names of the fields by which a user can find an object, as a text for error messages, such as
   * `id, slug or name`.
   */
  by: string;
  /** The permission that an API key needs to list objects of this kind. */
  permission: string;
  fetchPage: (after: string | null) => Promise<Page<Item>>;
  namesOf: (item: Item) => string[];
}

/**
 * Returns the complete id of the object that the user named in a command. `text` is what the user typed: the id, the
 * short id or the name of the object. If `text` is a complete id, the function returns `text` unchanged. If `text` is
 * the name of one object and the short id of another object, the function chooses the object with the name.
 *
 * @throws {Failure} when no object matches the input of the user, or when several objects match it; the error message
 *   lists the matching objects
 */
async function idOf<Item extends { id: string }>(text: string, named: Named<Item>): Promise<string> {
  if (isId(text)) return text;
  const { kind, plural, by, permission, fetchPage, namesOf } = named;
  const byName: Item[] = [];
  const byShortId: Item[] = [];
  try {
    for await (const item of itemsOf(fetchPage)) {
      if (namesOf(item).includes(text)) byName.push(item);
      else if (isShortFor(text, item.id)) byShortId.push(item);
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error;
    throw new Failure(
      `The key needs ${permission} to look up a ${kind}. Give the complete id of the ${kind} instead.`,
    );
  }
  const found = byName.length > 0 ? byName : byShortId;
  const [only, ...others] = found;
  if (!only) throw new Failure(`No ${kind} in the key's scope has the ${by} ${JSON.stringify(text)}.`);
  if (others.length === 0) return only.id;
  const list = found.map((item) => `  ${item.id}  ${namesOf(item).join('  ')}`);
  throw new Failure(
    [`${JSON.stringify(text)} names ${found.length} ${plural}; give the complete id of one:`, ...list].join(
      '\n',
    ),
  );
}

/** Finds the id of a location by its complete or short id, slug or name. */
export const locationIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'location',
    plural: 'locations',
    by: 'id, slug or name',
    permission: 'READ_LOCATIONS',
    fetchPage: async (after) => (await client.run(LocationsDocument, { after }, repeatable)).locations,
    namesOf: ({ slug, name }) => [slug, name],
  });

/** Finds the id of a company by its complete or short id, slug or name. */
export const companyIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'company',
    plural: 'companies',
    by: 'id, slug or name',
    permission: 'READ_COMPANIES',
    fetchPage: async (after) => (await client.run(CompaniesDocument, { after }, repeatable)).companies,
    namesOf: ({ slug, name }) => [slug, name],
  });

/**
 * Finds the id of an API key by its complete or short id, or by its name. The function finds a revoked API key only by
 * its complete or short id, not by its name.
 */
export const keyIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'key',
    plural: 'keys',
    by: 'id or name',
    permission: 'ADMIN',
    fetchPage: async (after) => (await client.run(KeysDocument, { after }, repeatable)).apiKeys,
    namesOf: ({ name, revokedAt }) => (revokedAt ? [] : [name]),
  });

/** Finds the id of a webhook by its complete or short id, or by its URL. */
export const webhookIdOf = (client: Client, text: string) =>
  idOf(text, {
    kind: 'webhook',
    plural: 'webhooks',
    by: 'id or URL',
    permission: 'MANAGE_WEBHOOKS',
    fetchPage: async (after) => (await client.run(WebhooksDocument, { after }, repeatable)).webhooks,
    namesOf: ({ url }) => (url === null ? [] : [url]),
  });

/**
 * Finds the ids of the objects that the user has named in an option, in the order in which the user named them. Returns
 * `undefined` if the user did not use the option in the command.
 */
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
