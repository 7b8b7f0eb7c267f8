import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exitCode, Failure } from './failure.ts';
import { isObject } from './is-object.ts';
import { replaceFile } from './replace-file.ts';
import type { FeedEntry } from './whitelist-feed.ts';

/**
 * A local copy of the whitelist of a location. In a copy of a whitelist, the cursor is a position in the whitelist
 * feed. The whitelist copy contains all changes before its cursor.
 */
export interface WhitelistCopy {
  locationId: string;
  /**
   * The IANA name of the time zone of the weekly hours. Before the command reads the whitelist for the first time,
   * `timezone` is an empty text.
   */
  timezone: string;
  /**
   * The cursor at which the next read of the whitelist feed starts. In a new copy of a whitelist, the cursor is null.
   */
  cursor: string | null;
  /**
   * The time of the last synchronization, in ISO 8601. The whitelist copy contains all changes of the whitelist that
   * happened before `syncedAt`.
   */
  syncedAt: string;
  /** Maps the id of each whitelist entry to the whitelist entry. */
  entries: Map<string, FeedEntry>;
}

/**
 * The JSON content of the file in which a whitelist copy is saved. In a file that contains a copy of a whitelist, the
 * whitelist entries are a list, with one entry in each line.
 */
type WrittenCopy = Omit<WhitelistCopy, 'entries'> & { entries: FeedEntry[] };

function isWrittenCopy(value: unknown): value is WrittenCopy {
  if (!isObject(value)) return false;
  const { locationId, cursor, entries } = value;
  return (
    typeof locationId === 'string' &&
    typeof cursor === 'string' &&
    Array.isArray(entries) &&
    entries.every((entry: unknown) => isObject(entry) && typeof entry.id === 'string')
  );
}

/**
 * Reads the copy of a whitelist from a file. If the file does not exist, `readCopy` returns an empty copy whose cursor
 * is null. If the cursor is null, the next read of the whitelist feed returns the whole whitelist.
 *
 * @throws {Failure} when the file cannot be read, or when the file is not a copy of the location's whitelist. When
 *   `readCopy` throws this error, the command must not overwrite the file
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

/**
 * Yields the text of a whitelist copy in parts. If the function built the text of the copy as one string, memory would
 * contain up to 100,000 whitelist entries twice: as objects and as text.
 */
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
 * Writes a whitelist copy to a file, and replaces the old content of the file in one atomic step. Other programs see
 * either the old whitelist copy with the old cursor, or the new whitelist copy with the new cursor.
 */
export async function writeCopy(path: string, copy: WhitelistCopy): Promise<void> {
  await replaceFile(path, (target) => pipeline(Readable.from(textOf(copy)), target));
}
