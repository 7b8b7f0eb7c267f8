import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange, subscriptionExchange } from 'urql';
import { graphPath, keyHeader } from '../../browser/post.ts';
import { createLive, type LiveConnection } from './live.ts';

/**
 * The GraphQL types whose objects have no id. The cache stores each of these objects as a part of its parent object.
 */
const parts = [
  ...['AccessCandidate', 'AccessCheck', 'AccessDecision', 'DeprecatedUse', 'ImportError', 'ImportResult'],
  ...['ImportRow', 'IssuedApiKey', 'OccupancyPoint', 'PageInfo', 'PlateDifference', 'Quota'],
  ...[
    'RateLimitWindow',
    'UsageBucket',
    'WebhookRecovery',
    'WebhookNotice',
    'WeeklyHours',
    'WhitelistChanges',
  ],
  ...['ApiKeyConnection', 'AuditRecordConnection', 'LocationConnection', 'ParkingEventConnection'],
  ...['ParkingSessionConnection', 'QuotaConnection', 'WebhookConnection', 'WebhookDeliveryConnection'],
  'WhitelistEntryConnection',
];

/**
 * Creates the GraphQL client for one API key. The cache of the GraphQL client stores each object only once. After a
 * live update or a mutation changes an object, every view shows the new values.
 */
export function createGraphClient(key: string): { client: Client; connection: LiveConnection } {
  const live = createLive(() => key);
  const client = new Client({
    url: graphPath,
    preferGetMethod: false,
    fetchOptions: { headers: keyHeader(key) },
    exchanges: [
      cacheExchange({
        keys: {
          LocationStatus: ({ locationId }) => locationId as string,
          ...Object.fromEntries(parts.map((type) => [type, () => null])),
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }, { key }) => ({
          subscribe: (sink) => ({
            unsubscribe: live.subscribe(
              { key, query: query ?? '', variables: variables as Record<string, unknown> },
              {
                next: (result) => sink.next(result as Parameters<typeof sink.next>[0]),
                complete: () => sink.complete(),
              },
            ),
          }),
        }),
      }),
    ],
  });
  return { client, connection: live.connection };
}
