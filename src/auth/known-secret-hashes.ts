import { LRUCache } from 'lru-cache';

/** The maximum number of hashes of secrets in memory. Each hash takes about 150 bytes. */
const maxKnownSecretHashes = 100_000;
/** The minimum time between two reads of the hashes, in milliseconds. */
const readIntervalMs = 5_000;

/**
 * The hashes of all secrets that are valid or were valid earlier. When a client address has sent too many unknown
 * secrets, the gateway rejects further unknown secrets from that address without a look-up. A secret in this set is
 * still looked up in the database, because it may be valid.
 */
export interface KnownSecretHashes {
  has(hash: string): boolean;
  add(hash: string): void;
  delete(hash: string): void;
  /** Plans to read the newest hashes within 5 s. All calls before that time cause a single read. */
  readSoon(): void;
}

/**
 * Creates the set of the hashes of known secrets in one process.
 *
 * @param read reads the hashes of the newest secrets, up to a maximum number
 */
export function createKnownSecretHashes(read: (limit: number) => Promise<string[]>): KnownSecretHashes {
  const hashes = new LRUCache<string, true>({ max: maxKnownSecretHashes });
  let nextRead: NodeJS.Timeout | undefined;

  return {
    has: (hash) => hashes.has(hash),
    add: (hash) => void hashes.set(hash, true),
    delete: (hash) => void hashes.delete(hash),
    readSoon() {
      nextRead ??= setTimeout(() => {
        read(maxKnownSecretHashes)
          .then((newest) => newest.forEach((hash) => hashes.set(hash, true)))
          .catch(() => undefined) // if the database is unreachable, the next call plans another read
          .finally(() => (nextRead = undefined));
      }, readIntervalMs).unref();
    },
  };
}
