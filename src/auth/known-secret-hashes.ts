import { LRUCache } from 'lru-cache';

/** The maximum number of secret hashes in memory. Each hash takes about 150 bytes. */
const maxKnownSecretHashes = 100_000;
/** The shortest time between two reads of the hashes, in milliseconds. */
const readIntervalMs = 5_000;

/**
 * The hashes of all secrets that are valid now or were valid before. An IP address has a budget for unknown secrets.
 * When the budget is spent, requests with a random secret are rejected, and requests with a known secret are still
 * looked up. The look-up decides, because a known secret may be invalid by now.
 */
export interface KnownSecretHashes {
  has(hash: string): boolean;
  add(hash: string): void;
  delete(hash: string): void;
  /** Schedules a read of the newest hashes within 5 s. Calls before that read share it. */
  readSoon(): void;
}

/**
 * Creates the set of known secret hashes of one process.
 *
 * @param read reads the hashes of the newest secrets, up to a limit
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
          .catch(() => undefined) // when the database is unreachable, the next call schedules another read
          .finally(() => (nextRead = undefined));
      }, readIntervalMs).unref();
    },
  };
}
