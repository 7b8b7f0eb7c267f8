import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Queries } from './checker.ts';

/** The rate limit of the API key `limitedKey`, in points per hour. Its limit per minute is the same. */
export const limitedKeyBudget = 20;

/** A company that a fault test creates, and whose data the test checks after the fault. */
export interface Tenant {
  locationId: string;
  /** An API key that may change the whitelist and record parking events, with rate limits that no test reaches. */
  key: string;
  /** An API key that may send only `limitedKeyBudget` requests per minute and per hour. */
  limitedKey: string;
  /** The webhook receiver, which gets a message about every whitelist change and every parking event. */
  receiver: Receiver;
}

/**
 * Runs a GraphQL operation with one root field, and returns the value of the field. The function waits for the response
 * of the gateway without a timeout, because importing many rows can take long on a busy machine. Therefore, the
 * function does not use `fetch`, which fails when no response headers arrive within 300 s.
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

/**
 * Gives the operator's API key rate limits that no test reaches, and waits until every gateway applies these rate
 * limits.
 */
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

/** A location, and an API key that may change the location's whitelist and record its parking events. */
export type Access = Pick<Tenant, 'locationId' | 'key'>;

/**
 * Creates a company with a location over GraphQL. Returns the id of the new location, and a function that issues API
 * keys for the new company.
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
 * Creates a company with a location and an API key over GraphQL.
 *
 * @param limits the rate limits of the API key for one hour and for one minute; the default is higher than any test
 *   needs
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

/** Creates a company with a location, two API keys and a webhook over GraphQL. */
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
