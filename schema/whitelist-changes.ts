import { z } from 'zod';
import { listInParts } from '../src/list-in-parts.ts';
import { maxFeedPageSize } from '../src/whitelist/changes.ts';
import type { WhitelistChanges as Changes, WhitelistRemoval as Removal } from '../src/whitelist/feed-page.ts';
import { maxFeedCursorLength } from '../src/whitelist/feed-cursor.ts';
import { builder } from './builder.ts';
import { wholeNumber } from './rules.ts';
import { WhitelistEntry } from './whitelist.ts';

/** Changes of a page when the client says nothing. */
const defaultFeedPageSize = 1000;

/**
 * What a page counts for in the cost of an operation: a page of any size, with every plain field of its entries, is one
 * point.
 */
const pageComplexity = { field: 1, multiplier: 110, wholeReads: true };

const feedCursor = z.string().max(maxFeedCursorLength, `Must be at most ${maxFeedCursorLength} characters`);

const WhitelistRemoval = builder.objectRef<Removal>('WhitelistRemoval').implement({
  description: 'An entry that is no longer in the whitelist.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the entry.' }),
    plateType: t.exposeString('plateType', { description: 'Issuing authority or region of its plate.' }),
    plateCode: t.exposeString('plateCode', { description: 'Code of its plate.' }),
    plateNumber: t.exposeString('plateNumber', { description: 'Number of its plate.' }),
  }),
});

const WhitelistChanges = builder.objectRef<Changes>('WhitelistChanges').implement({
  description:
    'A page of the changes of a whitelist. Apply removals before upserts, by the identifier of the entry. A change may be told more than once.',
  fields: (t) => ({
    upserts: t.field({
      type: [WhitelistEntry],
      complexity: pageComplexity,
      description: 'Entries that are new or changed, as they are now.',
      resolve: ({ upserts }) => listInParts(upserts),
    }),
    removals: t.field({
      type: [WhitelistRemoval],
      complexity: pageComplexity,
      description: 'Entries that are no longer in the whitelist.',
      resolve: ({ removals }) => listInParts(removals),
    }),
    cursor: t.exposeString('cursor', {
      description: 'For `after`: the next page, or later what will have changed.',
    }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more changes at once.' }),
    reset: t.exposeBoolean('reset', {
      description:
        'Whether to forget what you have: the cursor was too old, or of a database that was restored, and this page starts the whole list again.',
    }),
    timezone: t.exposeString('timezone', {
      description: 'IANA name of the time zone of the location, by whose clocks `hours` count.',
    }),
  }),
});

const WhitelistNotice = builder
  .objectRef<{ locationId: string; cursor: string }>('WhitelistNotice')
  .implement({
    description: 'Says that a whitelist may have changed: now ask `whitelistChanges`.',
    fields: (t) => ({
      locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
      cursor: t.exposeString('cursor', {
        description: 'The cursor of a client that has every change up to this notice.',
      }),
    }),
  });

builder.queryField('whitelistChanges', (t) =>
  t.field({
    type: WhitelistChanges,
    permission: 'READ_WHITELIST',
    complexity: { field: 1, multiplier: 1, pageSize: defaultFeedPageSize }, // see `pageComplexity`
    description:
      'The whitelist of a location as a feed, for gates that keep a copy: without `after` the whole list in pages, and from then on only what changed since the cursor.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      after: t.arg.string({
        description: 'The `cursor` of the last page that you have applied.',
        validate: feedCursor.nullish(),
      }),
      first: t.arg.int({
        defaultValue: defaultFeedPageSize,
        description: `How many changes at most: 1 to ${maxFeedPageSize}. A page of long texts has fewer.`,
        validate: wholeNumber(1, maxFeedPageSize).nullish(),
      }),
    },
    resolve: (_, { locationId, after, first }, { key, whitelist }) =>
      whitelist.feed.changes(key, locationId, after, first ?? defaultFeedPageSize),
  }),
);

builder.queryField('whitelistCursor', (t) =>
  t.string({
    permission: 'READ_WHITELIST',
    description:
      'The present end of the feed of a whitelist. Ask for it before you read the list by `whitelist`: later `whitelistChanges` with it tells what changed since.',
    args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    resolve: (_, { locationId }, { key, whitelist }) => whitelist.feed.cursor(key, locationId),
  }),
);

builder.subscriptionField('whitelistChanged', (t) =>
  t.field({
    type: WhitelistNotice,
    permission: 'READ_WHITELIST',
    description:
      'Says each time that the whitelist of a location may have changed. Changes that follow each other fast may come as one.',
    args: { locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    subscribe: async (_, { locationId }, { key, locations, whitelistNotices }) =>
      whitelistNotices.watch((await locations.find(key, locationId)).id),
    resolve: async (_, { locationId }, { key, whitelist }) => ({
      locationId,
      cursor: await whitelist.feed.cursor(key, locationId),
    }),
  }),
);
