import type { Answer, TestGateway } from './harness.ts';

/** The GraphQL fields of an API key that tests check. */
const keyFields =
  'id name permissions companyIds locationIds unrestricted hourlyLimit burstLimit expiresAt revokedAt';

/**
 * Creates functions that manage API keys. Each function that runs a GraphQL mutation returns the mutation's result, or
 * the `extensions` of its error.
 */
export function keyOperations(gateway: TestGateway) {
  const outcome = ({ body }: Answer, field: string) => body.errors?.[0].extensions ?? body.data[field];

  return {
    async create(key: string, input: Record<string, unknown> = {}) {
      const answer = await gateway.graph(
        `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { ${keyFields} } } }`,
        { key, variables: { input: { name: 'Gate', permissions: ['READ_LOCATIONS'], ...input } } },
      );
      return outcome(answer, 'createApiKey');
    },
    async update(key: string, id: string, input: Record<string, unknown>) {
      const answer = await gateway.graph(
        `mutation ($id: ID!, $input: UpdateApiKeyInput!) { updateApiKey(id: $id, input: $input) { ${keyFields} } }`,
        { key, variables: { id, input } },
      );
      return outcome(answer, 'updateApiKey');
    },
    async rotate(key: string, id: string, graceSeconds?: number) {
      const answer = await gateway.graph(
        `mutation ($id: ID!, $grace: Int) { rotateApiKey(id: $id, graceSeconds: $grace) { secret apiKey { ${keyFields} } } }`,
        { key, variables: { id, grace: graceSeconds } },
      );
      return outcome(answer, 'rotateApiKey');
    },
    async revoke(key: string, id: string) {
      const answer = await gateway.graph(`mutation ($id: ID!) { revokeApiKey(id: $id) { ${keyFields} } }`, {
        key,
        variables: { id },
      });
      return outcome(answer, 'revokeApiKey');
    },
    /** Requests the list of API keys with the API key `key`, and returns the ids of the listed API keys. */
    async list(key: string): Promise<string[]> {
      const { body } = await gateway.graph('{ apiKeys(first: 100) { nodes { id } } }', { key });
      return body.data.apiKeys.nodes.map(({ id }: { id: string }) => id);
    },
    /** Returns the id of the API key with the given secret. */
    async idOf(secret: string): Promise<string> {
      const { body } = await gateway.graph('{ viewer { id } }', { key: secret });
      return body.data.viewer.id;
    },
    /** Sends a request that every valid API key may send, and returns the HTTP status of the response. */
    statusWith: async (secret: string) => (await gateway.rest('GET', '/health', { key: secret })).status,
    /** Returns the audit records about an API key, oldest first. */
    auditOf: (id: string) =>
      gateway.database.prisma.auditRecord.findMany({ where: { targetId: id }, orderBy: { id: 'asc' } }),
  };
}
