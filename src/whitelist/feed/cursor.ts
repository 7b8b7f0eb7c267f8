import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { derivedKey } from '../../auth/derived-key.ts';
import { isId } from '../../ids.ts';

/**
 * The maximum length of a cursor of the whitelist feed, in characters. A cursor of the whitelist feed can be long,
 * because it lists the database transactions that were open when the cursor was created.
 */
export const maxFeedCursorLength = 16_384;

/**
 * The regular expression for a cursor of the whitelist feed. A cursor of the whitelist feed consists of its content and
 * its signature, both in base64url. Cursors of the whitelist feed from releases before 1.6.0 have no signature.
 */
export const feedCursorForm = /^[\w-]*(\.[\w-]{43})?$/;

/**
 * A transaction snapshot of PostgreSQL in its text form, `xmin:xmax:xip,…` (PostgreSQL manual, "pg_snapshot
 * Components").
 */
const snapshot = z
  .string()
  .regex(/^\d{1,19}:\d{1,19}:(\d{1,19}(,\d{1,19})*)?$/)
  .refine((text) => {
    const [xmin, xmax, open] = text.split(':').map((part) => part.split(',').filter(Boolean).map(BigInt));
    const [oldest, ...later] = [...xmin!, ...open!, ...xmax!];
    const isAscending = later.every((id, index) => index === 0 || later[index - 1]! < id);
    return oldest! > 0n && oldest! <= later[0]! && isAscending;
  });

const id = z.string().refine(isId);

/**
 * The sequence number of a whitelist change. Cursors of earlier gateway releases have the sequence number 0, because
 * those releases gave whitelist changes no sequence numbers.
 */
const changeId = z
  .string()
  .regex(/^\d{1,18}$/)
  .catch('0');

/**
 * How far a client has read the whitelist feed, which contains the changes of a whitelist. A cursor that a client sends
 * contains a feed position, so the gateway validates each value of this position before an SQL statement uses the
 * value.
 */
const position = z.object({
  /**
   * A hash that identifies the database and the timeline of its server (`feedLife`). `life` changes after a failover,
   * and after most restores of the database.
   */
  life: z.string().regex(/^[0-9a-f]{32}$/),
  /**
   * A transaction snapshot of PostgreSQL. The client has received all whitelist changes that are visible in this
   * transaction snapshot.
   */
  snapshot,
  /**
   * The id of the newest audit record of the location at the time when the gateway took the transaction snapshot. If
   * the audit record `newestRecordId` no longer exists, the gateway knows that an operator has restored an older backup
   * of the database.
   */
  newestRecordId: id.nullable(),
  /** The time at which the gateway took the transaction snapshot. */
  takenAt: z.iso.datetime({ precision: 3 }).refine((text) => Date.parse(text) >= 0),
});

const cursor = z.object({
  locationId: id,
  /**
   * The feed position from which the client continues after it has read the last page of the whole whitelist, or the
   * last page of changes.
   */
  next: position,
  /**
   * The last row of the previous page: a whitelist entry or a whitelist change; null if the next page is the first
   * page.
   */
  round: z
    .union([
      /**
       * The client is reading the whole whitelist. The next page of the whitelist starts after the whitelist entry with
       * the id `entryId`.
       */
      z.object({ entryId: id }),
      /**
       * The client is reading the whitelist changes since an earlier position (`since`). The next page of whitelist
       * changes starts after the change with the id `id`.
       */
      z.object({ since: position, changedIn: z.string().regex(/^\d{1,19}$/), id: changeId }),
    ])
    .nullable(),
});

/** A position in the history of a database. The client has received all whitelist changes up to this position. */
export type FeedPosition = z.output<typeof position>;

/**
 * Describes how far a client has read the whitelist of a location and the changes of this whitelist. A client must
 * treat the text of a cursor as opaque.
 */
export type FeedCursor = z.output<typeof cursor>;

/**
 * A cursor without a signature. An unsigned cursor comes from a release before 1.6.0 or is forged. The gateway uses
 * only the location in an unsigned cursor, because a client could have forged all other values.
 */
type UnsignedCursor = Pick<FeedCursor, 'locationId'> & { next?: undefined };

/** Encodes cursors as texts for clients, and decodes them. */
export interface FeedCursors {
  encode(cursor: FeedCursor): string;
  /** Decodes a cursor. Returns `undefined` when the text is not a cursor of this gateway. */
  decode(text: string): FeedCursor | UnsignedCursor | undefined;
}

/**
 * Creates the functions that encode and decode cursors. Cursors are signed with HMAC-SHA256, so that a client cannot
 * forge a cursor. A forged cursor would be dangerous, because database queries use the content of a cursor.
 */
export function createFeedCursors(pepper: string): FeedCursors {
  const key = derivedKey(pepper, 'whitelist-feed-cursors');
  const sign = (content: string) => createHmac('sha256', key).update(content).digest('base64url');
  return {
    encode(value) {
      const content = Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${content}.${sign(content)}`;
    },
    decode(text) {
      const [content = '', signature] = text.split('.');
      if (signature !== undefined && !isEqual(signature, sign(content))) return undefined;
      const read = readContent(content);
      return read && signature === undefined ? { locationId: read.locationId } : read;
    },
  };
}

/**
 * Compares two signatures. The comparison of the signatures takes constant time, so that a client cannot guess a
 * signature by measuring the response time.
 */
const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

function readContent(content: string): FeedCursor | undefined {
  try {
    return cursor.safeParse(JSON.parse(Buffer.from(content, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}
