import type { Context } from '../src/context.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import { FindWhitelistChangeDocument, GetWhitelistCursorDocument } from './generated/operations.ts';
import type { RestRequest } from './routes.ts';

/**
 * The maximum length of a tag in characters; a longer one is omitted. Proxies allow 4 to 8 KiB for all headers, and a
 * cursor that names many open transactions is long.
 */
const maxTagLength = 1024;

/** The number of tags in `If-None-Match` that are compared. A client has one list, or a few filtered ones. */
const maxComparedTags = 3;

/**
 * The cursors in the entity tags of a header, without quotes and weakness marks (RFC 9110, "ETag": compared weakly).
 */
const tagsOf = (header: string) =>
  [...header.matchAll(/(?:W\/)?"([\x21\x23-\x7e]*)"/g)]
    .map(([, opaque]) => opaque!)
    .slice(0, maxComparedTags);

/** Checks whether a whitelist has changed since a client read it. */
export interface ListValidator {
  /**
   * Returns the tag of `If-None-Match` after which nothing has changed, as an `ETag`; undefined when every tag is out
   * of date.
   */
  unchangedSince(request: RestRequest, context: Context): Promise<string | undefined>;
  /** Returns the `ETag` of a list, before the list is read; undefined when there is none. */
  current(request: RestRequest, context: Context): Promise<string | undefined>;
}

// A tag is the cursor of the location's feed. It is weak, because compression changes the bytes of a list and lists
// with other filters share the tag. Every change in the location's whitelist changes it.
const entityTag = (cursor: string) => `W/"${cursor}"`;

/** The `ETag` of a list that was read at a cursor of its feed; undefined when it would be too long. */
export function listTag(cursor: string): string | undefined {
  const tag = entityTag(cursor);
  return tag.length <= maxTagLength ? tag : undefined;
}

/** Creates the checks for the tags of whitelists. */
export function createListValidator(executor: GraphExecutor): ListValidator {
  const readCursor = executor.prepare(GetWhitelistCursorDocument);
  const findChange = executor.prepare(FindWhitelistChangeDocument);

  return {
    async unchangedSince({ params, ifNoneMatch }, context) {
      for (const after of tagsOf(ifNoneMatch ?? '')) {
        const { data, errors } = await findChange.run({ locationId: params.locationId, after }, context);
        // An unknown tag is not a cursor. Then the list is read, and reading it reports any other error.
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
      if (errors) return undefined; // reading the list reports the error with its own message
      return listTag(data!.whitelistCursor as string);
    },
  };
}
