import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Queries } from './checker.ts';

/** The points for an hour and for a minute of the key whose rate limit the test reaches. */
export const limitedKeyBudget = 20;

/** A company that one fault test creates. After the fault, the test checks the data of the company. */
export interface Tenant {
  locationId: string;
  /** A key that may write, with limits that no test reaches. */
  key: string;
  /** A key that may send `limitedKeyBudget` requests. */
  limitedKey: string;
  /** The webhook receiver, which gets a message about every whitelist change and every parking event. */
  receiver: Receiver;
}

/**
 * Runs one root field with a key and returns its value. The request has no timeout. `fetch` gives up an import without
 * headers after 300 s, and a busy machine may need more time.
 */
export async function askGraph<Value>(
  url: string,
  key: string,
  query: string,
  variables: Record<string, unknown>,
): Promise<Value> {
  const asked = request(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    agent: false,
  });
  asked.end(JSON.stringify({ query, variables }));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body = (await json(response)) as { data?: Record<string, Value>; errors?: unknown };
  const [value] = Object.values(body.data ?? {});
  if (body.errors || value === undefined) throw new Error(`${query}\n${JSON.stringify(body)}`);
  return value;
}

/** Gives the operator's key limits that no test reaches, and waits until every gateway has the new limits. */
export async function raiseOperatorLimits(
  database: Queries,
  urls: readonly string[],
  operatorKey: string,
): Promise<void> {
  await database.query(
    'UPDATE "ApiKey" SET "hourlyLimit" = 1000000, "burstLimit" = 1000000 WHERE unrestricted',
  );
  const limits = () =>
    Promise.all(
      urls.map(async (url) => {
        const { headers } = await fetch(`${url}/api/health`, { headers: { 'X-API-Key': operatorKey } });
        return headers.get('x-ratelimit-limit');
      }),
    );
  const raised = urls.map(() => '1000000');
  await vi.waitFor(async () => expect(await limits()).toEqual(raised), { timeout: 60_000, interval: 100 });
}

/** A location, and an API key that may change its whitelist and record events. */
export type Access = Pick<Tenant, 'locationId' | 'key'>;

/**
 * Creates a company with a location by the graph. @returns the location, and a function that issues a key for the
 * company
 */
async function newCompany(url: string, operatorKey: string, name: string) {
  const operator = <Value>(query: string, input: Record<string, unknown>) =>
    askGraph<Value>(url, operatorKey, query, { input });
  const company = await operator<{ id: string }>(
    'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
    { name: 'Fault', slug: name, address: 'Dubai' },
  );
  const location = await operator<{ id: string }>(
    'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id } }',
    { companyId: company.id, name: 'Fault', slug: name, capacity: 1000 },
  );
  const issue = async (hourlyLimit: number, burstLimit = hourlyLimit) => {
    const { secret } = await operator<{ secret: string }>(
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      {
        name,
        permissions: [
          'READ_LOCATIONS',
          'READ_WHITELIST',
          'WRITE_WHITELIST',
          'READ_ACTIVITY',
          'WRITE_ACTIVITY',
          'MANAGE_WEBHOOKS',
        ],
        companyIds: [company.id],
        hourlyLimit,
        burstLimit,
      },
    );
    return secret;
  };
  return { locationId: location.id, issue };
}

/**
 * Creates a company with a location and a key by the graph.
 *
 * @param limits the key's limits for an hour and a minute; by default no test reaches them
 */
export async function newAccess(
  url: string,
  operatorKey: string,
  name: string,
  limits: readonly [hourly: number, burst: number] = [1_000_000, 1_000_000],
): Promise<Access> {
  const { locationId, issue } = await newCompany(url, operatorKey, name);
  return { locationId, key: await issue(...limits) };
}

/** Creates a company with a location, keys and a webhook by the graph. */
export async function newTenant(url: string, operatorKey: string, name: string): Promise<Tenant> {
  const { locationId, issue } = await newCompany(url, operatorKey, name);
  const [key, limitedKey] = [await issue(1_000_000), await issue(limitedKeyBudget)];
  const receiver = await startReceiver();
  await askGraph(
    url,
    key,
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret } }',
    {
      input: {
        url: receiver.url,
        events: [
          'WHITELIST_CREATED',
          'WHITELIST_UPDATED',
          'WHITELIST_DELETED',
          'PARKING_ENTERED',
          'PARKING_EXITED',
        ],
      },
    },
  );
  return { locationId, key, limitedKey, receiver };
}
