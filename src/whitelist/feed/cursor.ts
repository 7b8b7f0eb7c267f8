import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { isId } from '../../ids.ts';

/**
 * The maximum length of a cursor in characters. A cursor can be long, because it lists the database transactions that
 * were open when the cursor was created.
 */
export const maxFeedCursorLength = 16_384;

/**
 * The form of a cursor. Its content and its signature are in base64url. Cursors of releases before 1.6.0 have no
 * signature.
 */
export const feedCursorForm = /^[\w-]*(\.[\w-]{43})?$/;

/**
 * A snapshot of PostgreSQL as text. It has the form `xmin:xmax:xip,…` (PostgreSQL manual, "pg_snapshot Components").
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
 * The sequence number of a whitelist change. Some cursors without a signature have another value here, because earlier
 * releases did not number the changes.
 */
const changeId = z
  .string()
  .regex(/^\d{1,18}$/)
  .catch('0');

/**
 * The state of the database up to which a client has read a whitelist. All fields are validated, so that a cursor
 * cannot make an SQL statement fail.
 */
const position = z.object({
  /** Identifies the history of the database. The identifier changes after a restore or a failover. */
  life: z.string().regex(/^[0-9a-f]{32}$/),
  /** The PostgreSQL snapshot up to which the client has read. The client has seen all changes in this snapshot. */
  snapshot,
  /**
   * The newest audit record of the location in the snapshot. After a restore from a backup, the database may no longer
   * have this record.
   */
  newestRecordId: id.nullable(),
  /** The time at which the snapshot was taken. */
  takenAt: z.iso.datetime({ precision: 3 }).refine((text) => Date.parse(text) >= 0),
});

const cursor = z.object({
  locationId: id,
  /** The position that the client has reached after the last page of the current round. */
  next: position,
  /** The place at which the current round of pages continues; null before the first page of a round. */
  round: z
    .union([
      /** The entry after which the client continues to read the whole list. */
      z.object({ entryId: id }),
      /** The change after which the client continues to read the changes since an earlier position. */
      z.object({ since: position, changedIn: z.string().regex(/^\d{1,19}$/), id: changeId }),
    ])
    .nullable(),
});

/** The position of a client in the history of a database: everything up to this position is known to the client. */
export type FeedPosition = z.output<typeof position>;

/** The position of a client in the feed of a location. A client must treat the text of a cursor as opaque. */
export type FeedCursor = z.output<typeof cursor>;

/**
 * A cursor without a signature. It comes from a release before 1.6.0, or a client made it up. The gateway uses only the
 * location in it.
 */
type UnsignedCursor = Pick<FeedCursor, 'locationId'> & { next?: undefined };

/** Encodes cursors as texts for clients, and decodes them. */
export interface FeedCursors {
  encode(cursor: FeedCursor): string;
  /** Decodes a cursor. The result is undefined when the text is not a cursor of this gateway. */
  decode(text: string): FeedCursor | UnsignedCursor | undefined;
}

/**
 * Creates the functions that encode and decode cursors. Cursors are signed with HMAC-SHA256, so that a client cannot
 * forge a cursor; the content of a cursor is used in database queries. The signing key is derived from the pepper of
 * the API keys (HKDF, RFC 5869).
 */
export function createFeedCursors(pepper: string): FeedCursors {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'whitelist-feed-cursors', 32));
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

/** Compares two signatures in a time that does not depend on their content. */
const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

function readContent(content: string): FeedCursor | undefined {
  try {
    return cursor.safeParse(JSON.parse(Buffer.from(content, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}
