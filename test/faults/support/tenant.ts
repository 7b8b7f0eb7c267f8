import { expect, vi } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Queries } from './checker.ts';

/** How many requests the key of the limit check may make, in an hour and in a minute. */
export const limitedKeyBudget = 20;

/** A company of one fault: what happens to it is checked when the fault is over. */
export interface Tenant {
  locationId: string;
  /** May write, without a limit that a test reaches. */
  key: string;
  /** May make `limitedKeyBudget` requests. */
  limitedKey: string;
  /** Waits for every change of whitelist and activity. */
  receiver: Receiver;
}

/** Runs one root field with a key and returns its value. */
export async function askGraph<Value>(
  url: string,
  key: string,
  query: string,
  variables: Record<string, unknown>,
): Promise<Value> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ query, variables }),
  });
  const body = (await response.json()) as { data?: Record<string, Value>; errors?: unknown };
  const [value] = Object.values(body.data ?? {});
  if (body.errors || value === undefined) throw new Error(`${query}\n${JSON.stringify(body)}`);
  return value;
}

/** Gives the operator's key limits that no test reaches, and waits until every gateway knows of them. */
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

/** Makes a company with a location, keys and a webhook, by the graph. */
export async function newTenant(url: string, operatorKey: string, name: string): Promise<Tenant> {
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
  const issue = async (limit: number) => {
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
        hourlyLimit: limit,
        burstLimit: limit,
      },
    );
    return secret;
  };
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
  return { locationId: location.id, key, limitedKey, receiver };
}
