import { z } from 'zod';
import { isId } from '../ids.ts';

/** How long a cursor may be, in characters: it names the transactions that were open when it was made. */
export const maxFeedCursorLength = 16_384;

/** A snapshot of PostgreSQL as text, `xmin:xmax:xip,…` (PostgreSQL manual, "pg_snapshot Components"). */
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
 * The number of a change. Cursors of before changes had numbers start over: until that is seen, any number serves; from
 * 0 on no change is left out.
 */
const changeId = z
  .string()
  .regex(/^\d{1,18}$/)
  .catch('0');

/**
 * What a client had read of a database, and when. Its fields are such that no statement fails on them: positions of
 * several clients are looked up by one statement.
 */
const position = z.object({
  /** The database, as long as its transactions are numbered on: it changes with a restore or a failover. */
  life: z.string().regex(/^[0-9a-f]{32}$/),
  /** Everything that this snapshot sees was read. */
  snapshot,
  /** The newest audit record of the location that the snapshot sees: a restored backup may not have it. */
  newestRecordId: id.nullable(),
  /** When the snapshot was taken. */
  takenAt: z.iso.datetime().refine((text) => Date.parse(text) >= 0),
});

const cursor = z.object({
  locationId: id,
  /** What will have been read at the end of the round under way. */
  next: position,
  /** Where the round under way goes on; none at the start of a round. */
  round: z
    .union([
      /** The whole list: after this entry. */
      z.object({ entryId: id }),
      /** The changes since an earlier position: after this change. */
      z.object({ since: position, changedIn: z.string().regex(/^\d{1,19}$/), id: changeId }),
    ])
    .nullable(),
});

/** What a database had to offer at one moment. */
export type FeedPosition = z.output<typeof position>;

/** Where a client stands in the feed of a location; opaque to the client. */
export type FeedCursor = z.output<typeof cursor>;

/** Writes a cursor as the text that clients keep. */
export const encodeFeedCursor = (value: FeedCursor) =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** Reads a cursor; undefined for a text that is none. */
export function decodeFeedCursor(text: string): FeedCursor | undefined {
  try {
    return cursor.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}
