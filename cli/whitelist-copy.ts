import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exitCode, Failure } from './failure.ts';
import { replaceFile } from './replace-file.ts';
import type { FeedEntry } from './whitelist-feed.ts';

/** A copy of the whitelist of a location. Its cursor says which changes of the feed the copy contains. */
export interface WhitelistCopy {
  locationId: string;
  /** The IANA name of the time zone for the weekly hours. The text is empty for a new copy. */
  timezone: string;
  /** The cursor from which the feed continues; null for a new copy. */
  cursor: string | null;
  /** The last time at which the copy was equal to the whitelist, in ISO 8601. */
  syncedAt: string;
  /** The entries of the whitelist. The keys of the map are their ids. */
  entries: Map<string, FeedEntry>;
}

/** The content of the file. It has the entries as a list, with one line for each entry. */
type WrittenCopy = Omit<WhitelistCopy, 'entries'> & { entries: FeedEntry[] };

function isWrittenCopy(value: unknown): value is WrittenCopy {
  if (typeof value !== 'object' || value === null) return false;
  const { locationId, cursor, entries } = value as Partial<WrittenCopy>;
  return typeof locationId === 'string' && typeof cursor === 'string' && Array.isArray(entries);
}

/**
 * Reads the copy of a whitelist from a file. If the file does not exist, the copy is empty, and the feed starts with
 * the whole list.
 *
 * @throws {Failure} when the file contains something else, so that the command does not overwrite it
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

/** Yields the text of a copy in parts, so that a whitelist of 100,000 entries is not twice in memory. */
function* textOf({ entries, ...head }: WhitelistCopy): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"entries":[`;
  let separator = '\n';
  for (const entry of entries.values()) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/**
 * Writes a copy to its file atomically. Other programs see either the old copy or the new copy, each with the right
 * cursor.
 */
export async function writeCopy(path: string, copy: WhitelistCopy): Promise<void> {
  await replaceFile(path, (target) => pipeline(Readable.from(textOf(copy)), target));
}
