import type { Context } from '../src/context.ts';
import type { GraphExecutor } from '../src/graphql/executor.ts';
import { FindWhitelistChangeDocument, GetWhitelistCursorDocument } from './generated/operations.ts';
import type { RestRequest } from './routes.ts';

/** A cursor that names many open transactions is left out, in characters: proxies allow 4 to 8 KiB for all headers. */
const maxTagLength = 1024;

/** How many of the tags in `If-None-Match` are looked at: a client has one answer, or a few filtered ones. */
const maxComparedTags = 3;

/** The entity tags of a header; the cursor without its marks (RFC 9110, "ETag": compared weakly). */
const tagsOf = (header: string) =>
  [...header.matchAll(/(?:W\/)?"([\x21\x23-\x7e]*)"/g)]
    .map(([, opaque]) => opaque!)
    .slice(0, maxComparedTags);

/** Tells whether a whitelist has changed since a client read it. */
export interface ListValidator {
  /** The tag of `If-None-Match` since which nothing has changed, as an `ETag`; undefined when there is none. */
  unchangedSince(request: RestRequest, context: Context): Promise<string | undefined>;
  /** The `ETag` of a list whose reading begins when this has returned; undefined when there is none. */
  current(request: RestRequest, context: Context): Promise<string | undefined>;
}

// A tag is the cursor of the location's feed. It is weak: the same list may be compressed in several ways, and lists
// with other filters have it too. Any change in the location's whitelist makes it another one.
const entityTag = (cursor: string) => `W/"${cursor}"`;

/** The `ETag` of a list that was read at a cursor of its feed; undefined when it would be too long. */
export function listTag(cursor: string): string | undefined {
  const tag = entityTag(cursor);
  return tag.length <= maxTagLength ? tag : undefined;
}

/** Prepares the tags of whitelists. */
export function createListValidator(executor: GraphExecutor): ListValidator {
  const readCursor = executor.prepare(GetWhitelistCursorDocument);
  const findChange = executor.prepare(FindWhitelistChangeDocument);

  return {
    async unchangedSince({ params, ifNoneMatch }, context) {
      for (const after of tagsOf(ifNoneMatch ?? '')) {
        const { data, errors } = await findChange.run({ locationId: params.locationId, after }, context);
        // A tag of someone else's making is no cursor: then the list is read, which tells of any other error.
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
      if (errors) return undefined; // the list tells of it, in the words of its own rules
      return listTag(data!.whitelistCursor as string);
    },
  };
}
