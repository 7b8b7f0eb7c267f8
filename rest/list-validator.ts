import type { Context } from '../src/context.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import { FindWhitelistChangeDocument, GetWhitelistCursorDocument } from './generated/operations.ts';
import type { RestRequest } from './routes.ts';

/**
 * The maximum length of an entity tag in characters. The gateway does not send longer entity tags, because many proxies
 * limit the total size of the headers to 4 or 8 KiB. The entity tag of a list contains a whitelist cursor, and this
 * cursor contains the ids of all open database transactions. If many transactions are open, the entity tag becomes
 * long.
 */
const maxTagLength = 1024;

/**
 * The maximum number of entity tags in `If-None-Match` that the gateway checks. A client that reads a list with several
 * filters may send one entity tag for each filter.
 */
const maxComparedTags = 3;

/**
 * Returns the cursors in the entity tags of the header `If-None-Match`, without quotation marks and without the prefix
 * `W/`. `If-None-Match` uses the weak comparison of entity tags (RFC 9110, "ETag"), which ignores the prefix `W/`.
 */
const tagsOf = (header: string) =>
  [...header.matchAll(/(?:W\/)?"([\x21\x23-\x7e]*)"/g)]
    .map(([, opaque]) => opaque!)
    .slice(0, maxComparedTags);

/** The functions that use entity tags to check whether a whitelist has changed since a client read it. */
export interface ListValidator {
  /**
   * Returns the first entity tag in `If-None-Match` that is still current, or `undefined` if no entity tag is current.
   * If `If-None-Match` is `*` (RFC 9110, section 13.1.2), the function returns the current entity tag.
   */
  unchangedSince(request: RestRequest, context: Context): Promise<string | undefined>;
  /**
   * Returns the current `ETag` of a whitelist. Returns `undefined` if the query for the whitelist's cursor fails, or if
   * the `ETag` would be too long.
   */
  current(request: RestRequest, context: Context): Promise<string | undefined>;
}

// The entity tag of a whitelist contains a cursor of the whitelist feed, so each change of the whitelist changes the
// entity tag. The entity tag of a whitelist is a weak entity tag, because two responses with equal entity tags can have
// different bytes. For example, the gateway may compress or filter only one of the two responses.
const entityTag = (cursor: string) => `W/"${cursor}"`;

/**
 * Creates the `ETag` of a whitelist from a cursor of the whitelist feed. Returns `undefined` if the `ETag` would be too
 * long.
 */
export function listTag(cursor: string): string | undefined {
  const tag = entityTag(cursor);
  return tag.length <= maxTagLength ? tag : undefined;
}

/** Creates the functions that check the entity tags of whitelists. */
export function createListValidator(executor: GraphExecutor): ListValidator {
  const readCursor = executor.prepare(GetWhitelistCursorDocument);
  const findChange = executor.prepare(FindWhitelistChangeDocument);

  const current: ListValidator['current'] = async ({ params }, context) => {
    const { data, errors } = await readCursor.run({ locationId: params.locationId }, context);
    // This code ignores an error of the query for the feed cursor. If the query for the feed cursor fails, the later
    // query for the whitelist fails with the same error.
    if (errors) return undefined;
    return listTag(data!.whitelistCursor as string);
  };

  return {
    current,
    async unchangedSince(request, context) {
      const { params, ifNoneMatch } = request;
      if (ifNoneMatch?.trim() === '*') return current(request, context);
      for (const after of tagsOf(ifNoneMatch ?? '')) {
        const { data, errors } = await findChange.run({ locationId: params.locationId, after }, context);
        // The entity tag from the client may contain an invalid cursor. This code therefore ignores an error of the
        // GraphQL query. If the error has another cause than an invalid cursor, the query that reads the list later
        // returns the same error to the client.
        if (errors) continue;
        const { upserts, removals, reset } = data!.whitelistChanges as {
          upserts: unknown[];
          removals: unknown[];
          reset: boolean;
        };
        if (!reset && upserts.length === 0 && removals.length === 0) return entityTag(after);
      }
      return undefined;
    },
  };
}
