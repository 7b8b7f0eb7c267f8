import { LRUCache } from 'lru-cache';

/** The maximum number of known hashes, of about 150 bytes each. */
const maxKnownSecretHashes = 100_000;
/** The shortest time between two reads of the hashes, in milliseconds. */
const readIntervalMs = 5_000;

/**
 * The hashes of secrets that are valid or once were. When the budget of an IP address for unknown secrets is spent, a
 * request from that address with a known secret is still looked up, while a request with a random secret is rejected. A
 * known secret may be invalid by now, so the look-up decides.
 */
export interface KnownSecretHashes {
  has(hash: string): boolean;
  add(hash: string): void;
  delete(hash: string): void;
  /** Schedules a read of the newest hashes within 5 s. Calls until then share one read. */
  readSoon(): void;
}

/**
 * Creates the known hashes of one process.
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
