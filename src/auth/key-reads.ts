import type { ApiKey, PrismaClient } from '../../prisma/generated/client/client.ts';
import { prismaList } from '../database/prisma-list.ts';
import type { PagedList } from '../paging.ts';
import type { AuthenticatedKey, ScopedApiKey } from './key.ts';
import { findApiKey } from './managed-key.ts';
import { apiKeyScope } from './scope.ts';

/** The functions that read API keys from one database. */
export type KeyReads = ReturnType<typeof createKeyReads>;

/** Creates the functions that read API keys. */
export function createKeyReads({ prisma }: { prisma: PrismaClient }) {
  return {
    /** Lists the API keys that the client's own API key may manage. */
    list: (key: AuthenticatedKey): PagedList<ApiKey> => prismaList(prisma.apiKey, apiKeyScope(key)),

    /**
     * Finds an API key by the id that a client sent.
     *
     * @throws {ServiceError} `NOT_FOUND` for an unknown API key, and for an API key that the client's own API key may
     *   not manage
     */
    find: (key: AuthenticatedKey, id: string): Promise<ScopedApiKey> => findApiKey(prisma, key, id),
  };
}
