import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const key = await gateway.newKey();

// The tests of this file run the public audit suite for GraphQL over HTTP, and add an API key to every request of the
// suite.
describe('conformance to the specification GraphQL over HTTP', () => {
  const audits = serverAudits({
    url: 'http://gateway/graphql',
    fetchFn: (url: string, init: RequestInit = {}) =>
      gateway.app.request(url, { ...init, headers: { ...(init.headers as object), 'X-API-Key': key } }),
  });
  test('the public audit suite for GraphQL over HTTP has 61 audits', () => expect(audits).toHaveLength(61));
  test.each(audits.map((audit) => [audit.name, audit] as const))(
    'the GraphQL endpoint passes the GraphQL-over-HTTP audit: %s',
    async (_, audit) => {
      const result = await audit.fn();
      expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
    },
  );
});
