import type { Context } from '../src/context.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import { FindWhitelistChangeDocument, GetWhitelistCursorDocument } from './generated/operations.ts';
import type { RestRequest } from './routes.ts';

/**
 * The maximum length of an entity tag in characters. A longer tag is omitted, because proxies allow 4 to 8 KiB for all
 * headers. A tag can be long, because its cursor names all open transactions.
 */
const maxTagLength = 1024;

/**
 * The maximum number of tags in `If-None-Match` that are compared. A client needs one tag for its list, or a few tags
 * for filtered lists.
 */
const maxComparedTags = 3;

/**
 * Returns the cursors in the entity tags of a header, without quotes and weakness marks (RFC 9110, "ETag": compared
 * weakly).
 */
const tagsOf = (header: string) =>
  [...header.matchAll(/(?:W\/)?"([\x21\x23-\x7e]*)"/g)]
    .map(([, opaque]) => opaque!)
    .slice(0, maxComparedTags);

/** Checks whether a whitelist has changed since a client read it. */
export interface ListValidator {
  /**
   * Returns the first tag of `If-None-Match` that is still up to date, as an `ETag`. The result is undefined when every
   * tag is out of date.
   */
  unchangedSince(request: RestRequest, context: Context): Promise<string | undefined>;
  /** Returns the `ETag` of a list before the list is read. The result is undefined when the list has no tag. */
  current(request: RestRequest, context: Context): Promise<string | undefined>;
}

// The entity tag of a whitelist is the cursor of the location's feed. Every change in the whitelist changes the tag.
// The tag is weak, because compression changes the bytes of a list, and because lists with different filters share the
// tag.
const entityTag = (cursor: string) => `W/"${cursor}"`;

/**
 * Returns the `ETag` of a list that was read at a cursor of its feed. The result is undefined when the tag would be too
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

  return {
    async unchangedSince({ params, ifNoneMatch }, context) {
      for (const after of tagsOf(ifNoneMatch ?? '')) {
        const { data, errors } = await findChange.run({ locationId: params.locationId, after }, context);
        // An error means that the tag is not a cursor. The list is then read, and reading it reports any other error.
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

    async current({ params }, context) {
      const { data, errors } = await readCursor.run({ locationId: params.locationId }, context);
      // the error is ignored here, because reading the list reports it with its own message
      if (errors) return undefined;
      return listTag(data!.whitelistCursor as string);
    },
  };
}
