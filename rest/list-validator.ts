import type { Context } from '../src/context.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import { FindWhitelistChangeDocument, GetWhitelistCursorDocument } from './generated/operations.ts';
import type { RestRequest } from './routes.ts';

/**
 * The maximum length of an entity tag in characters. If a tag is longer, the response has no tag, because proxies limit
 * all headers to 4 to 8 KiB. A tag is long when many database transactions are open, because its cursor lists them.
 */
const maxTagLength = 1024;

/**
 * The maximum number of tags in `If-None-Match` that are checked. A client needs one tag for each filter that it uses
 * with a list.
 */
const maxComparedTags = 3;

/**
 * Returns the cursors that the entity tags in a header contain, without quotes and without `W/` (RFC 9110, "ETag":
 * compared weakly).
 */
const tagsOf = (header: string) =>
  [...header.matchAll(/(?:W\/)?"([\x21\x23-\x7e]*)"/g)]
    .map(([, opaque]) => opaque!)
    .slice(0, maxComparedTags);

/** Checks with entity tags whether a whitelist has changed since a client read it. */
export interface ListValidator {
  /**
   * Returns the first entity tag in `If-None-Match` that is still current, for the header `ETag`. The result is
   * undefined when no tag is current.
   */
  unchangedSince(request: RestRequest, context: Context): Promise<string | undefined>;
  /** Returns the `ETag` of a list before the list is read. The result is undefined when the list gets no tag. */
  current(request: RestRequest, context: Context): Promise<string | undefined>;
}

// The entity tag of a whitelist contains the cursor of its feed, so each change of the whitelist changes the tag. The
// tag is weak, because compression changes the bytes of the list, and lists with different filters have the same tag.
const entityTag = (cursor: string) => `W/"${cursor}"`;

/**
 * Returns the `ETag` of a list that was read at a given cursor of the feed. The result is undefined when the tag would
 * be too long.
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
        // An error means that the tag has no valid cursor. Any other cause of the error is reported when the list is
        // read.
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
      // the error is ignored, because reading the list reports it with its own message
      if (errors) return undefined;
      return listTag(data!.whitelistCursor as string);
    },
  };
}
