import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exitCode, Failure } from './failure.ts';
import { replaceFile } from './replace-file.ts';
import type { FeedEntry } from './whitelist-feed.ts';

/** A copy of the whitelist of a location, as it was at a cursor of its feed. */
export interface WhitelistCopy {
  locationId: string;
  /** IANA name, by whose clocks hours count; empty for a copy that was never filled. */
  timezone: string;
  /** Where the feed goes on; null for a copy that was never filled. */
  cursor: string | null;
  /** When the copy was known to be like the whitelist, ISO 8601. */
  syncedAt: string;
  /** The entries by their ids. */
  entries: Map<string, FeedEntry>;
}

/** What a file has: entries in a list, one in a line. */
type WrittenCopy = Omit<WhitelistCopy, 'entries'> & { entries: FeedEntry[] };

function isWrittenCopy(value: unknown): value is WrittenCopy {
  if (typeof value !== 'object' || value === null) return false;
  const { locationId, cursor, entries } = value as Partial<WrittenCopy>;
  return typeof locationId === 'string' && typeof cursor === 'string' && Array.isArray(entries);
}

/**
 * Reads the copy of a location from a file. Without a file it is an empty copy, whose feed starts with the whole
 * list.
 *
 * @throws {Failure} when the file is something else: it would be replaced
 */
export async function readCopy(path: string, locationId: string): Promise<WhitelistCopy> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure(`Cannot read ${path}: ${error.message}`, exitCode.usage);
  });
  if (text === undefined) {
    return { locationId, timezone: '', cursor: null, syncedAt: '', entries: new Map() };
  }
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch {
    written = undefined;
  }
  if (!isWrittenCopy(written)) {
    throw new Failure(`${path} is not a copy of a whitelist: name another file`, exitCode.usage);
  }
  if (written.locationId !== locationId) {
    throw new Failure(
      `${path} is a copy of location ${written.locationId}, not of ${locationId}: name another file`,
      exitCode.usage,
    );
  }
  return { ...written, entries: new Map(written.entries.map((entry) => [entry.id, entry])) };
}

/** The text of a copy in pieces: a whitelist of 100,000 entries is not held in memory twice. */
function* textOf({ entries, ...head }: WhitelistCopy): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"entries":[`;
  let separator = '\n';
  for (const entry of entries.values()) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** Writes a copy. Who reads the file at any time sees the former copy or this one, each with its own cursor. */
export async function writeCopy(path: string, copy: WhitelistCopy): Promise<void> {
  await replaceFile(path, (target) => pipeline(Readable.from(textOf(copy)), target));
}
