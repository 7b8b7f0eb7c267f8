import { z } from 'zod';
import { createChunkedList } from '../src/scheduling/chunked-list.ts';
import { maxFeedPageSize } from '../src/whitelist/feed/feed.ts';
import type { WhitelistChanges as Changes, WhitelistRemoval as Removal } from '../src/whitelist/feed/page.ts';
import { feedCursorForm, maxFeedCursorLength } from '../src/whitelist/feed/cursor.ts';
import { builder } from './builder.ts';
import { locationIdArg } from './location.ts';
import { wholeNumber } from './rules.ts';
import { WhitelistEntry } from './whitelist.ts';

/** The default number of changes on a page of the whitelist feed, which is the list of changes of a whitelist. */
const defaultFeedPageSize = 1000;

/**
 * The options from which the gateway computes the cost of one page of whitelist changes. A page of any size costs one
 * rate limit point. The page costs more if the selected fields of the whitelist entries need additional database reads.
 */
const pageComplexity = { field: 1, multiplier: 110, wholeReads: true };

const feedCursor = z
  .string()
  .max(maxFeedCursorLength, `Must be at most ${maxFeedCursorLength} characters`)
  .regex(feedCursorForm, 'Must be a cursor that whitelistChanges returned');

const WhitelistRemoval = builder.objectRef<Removal>('WhitelistRemoval').implement({
  description: 'A whitelist entry that was removed from the whitelist.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the entry.' }),
    plateType: t.exposeString('plateType', { description: 'The authority or region that issued the plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of the plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of the plate.' }),
  }),
});

const WhitelistChanges = builder.objectRef<Changes>('WhitelistChanges').implement({
  description:
    'One page of the changes to a whitelist. In your copy of the whitelist, first apply `removals` and then `upserts`, and find the whitelist entries by `id`. The query `whitelistChanges` may return the same change more than once.',
  fields: (t) => ({
    upserts: t.field({
      type: [WhitelistEntry],
      complexity: pageComplexity,
      description: 'Whitelist entries that were added or changed, with their current values.',
      resolve: ({ upserts }) => createChunkedList(upserts),
    }),
    removals: t.field({
      type: [WhitelistRemoval],
      complexity: pageComplexity,
      description: 'Whitelist entries that were removed from the whitelist.',
      resolve: ({ removals }) => createChunkedList(removals),
    }),
    cursor: t.exposeString('cursor', {
      description:
        'The cursor to send as `after` in the request for the next page. After the last page of changes, store the cursor of this page, and send it as `after` in your next request for changes.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description: 'Whether there are already more changes after this page.',
    }),
    reset: t.exposeBoolean('reset', {
      description:
        'Whether you must discard your copy of the whitelist. If `reset` is true, this page is the first page of the whole whitelist. `reset` is true when the cursor in `after` is too old, was created by a gateway version before 1.6.0, or was created before the database was restored from a backup.',
    }),
    timezone: t.exposeString('timezone', {
      description:
        "IANA name of the location's time zone. The weekly hours of whitelist entries are times in the time zone of the location.",
    }),
  }),
});

const WhitelistNotice = builder
  .objectRef<{ locationId: string; cursor: string }>('WhitelistNotice')
  .implement({
    description:
      'A notice that a whitelist may have changed. The query `whitelistChanges` returns the changes.',
    fields: (t) => ({
      locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
      cursor: t.exposeString('cursor', {
        description: 'The cursor of the latest whitelist change when the gateway sent this notice.',
      }),
    }),
  });

builder.queryField('whitelistChanges', (t) =>
  t.field({
    type: WhitelistChanges,
    permission: 'READ_WHITELIST',
    // The comment on `pageComplexity` explains the cost of the field `whitelistChanges`.
    complexity: { field: 1, multiplier: 1, pageSize: { usual: defaultFeedPageSize, max: maxFeedPageSize } },
    description:
      'The changes of a whitelist, for gates that keep a copy of the whitelist. A client that has no copy of the whitelist yet omits `after`: the pages then contain the whole whitelist. A client that sends a cursor as `after` gets only the changes since this cursor.',
    args: {
      locationId: t.arg.id(locationIdArg),
      after: t.arg.string({
        description: 'The `cursor` of the last page that you have applied to your copy of the whitelist.',
        validate: feedCursor.nullish(),
      }),
      first: t.arg.int({
        defaultValue: defaultFeedPageSize,
        description: `Maximum number of changes on the page: 1 to ${maxFeedPageSize}. If whitelist entries have long texts or many weekly hours, a page can contain fewer changes than \`first\`.`,
        validate: wholeNumber(1, maxFeedPageSize).nullish(),
      }),
    },
    resolve: (_, { locationId, after, first }, { key, services: { whitelist } }) =>
      whitelist.feed.changes(key, locationId, after, first ?? defaultFeedPageSize),
  }),
);

builder.queryField('whitelistCursor', (t) =>
  t.string({
    permission: 'READ_WHITELIST',
    description:
      'The cursor of the latest change of the whitelist. Read this cursor before you copy the whitelist with the query `whitelist`. After you have copied the whitelist, send this cursor to `whitelistChanges` to get every change since you read the cursor.',
    args: {
      locationId: t.arg.id(locationIdArg),
    },
    resolve: (_, { locationId }, { key, services: { whitelist } }) => whitelist.feed.cursor(key, locationId),
  }),
);

builder.subscriptionField('whitelistChanged', (t) =>
  t.field({
    type: WhitelistNotice,
    permission: 'READ_WHITELIST',
    description:
      'Sends a notice whenever the whitelist of a location may have changed. Several changes to the whitelist in quick succession may cause only one notice.',
    args: {
      locationId: t.arg.id(locationIdArg),
    },
    subscribe: async (_, { locationId }, { key, services: { locations, whitelistNotices } }) =>
      whitelistNotices.watch([(await locations.find(key, locationId)).id]),
    resolve: async (_, { locationId }, { key, services: { whitelist } }) => ({
      locationId,
      cursor: await whitelist.feed.cursor(key, locationId),
    }),
  }),
);
