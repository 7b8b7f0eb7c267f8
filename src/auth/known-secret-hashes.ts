import { LRUCache } from 'lru-cache';

/**
 * The maximum number of hashes of API key secrets that a process keeps in memory. In memory, each hash of an API key
 * secret occupies about 150 bytes.
 */
const maxKnownSecretHashes = 100_000;
/**
 * The minimum time in milliseconds between two reads of the hashes of API key secrets from the database.
 */
const readIntervalMs = 5_000;

/**
 * The hashes of the API key secrets that the gateway has issued. When this process finds that a secret is invalid, the
 * process removes the hash of the secret from the set of known hashes. When a client address has sent too many unknown
 * API key secrets, the gateway rejects further unknown secrets from this address without a database look-up. The
 * gateway always looks up a secret with a known hash, because the secret may be valid.
 */
export interface KnownSecretHashes {
  has(hash: string): boolean;
  add(hash: string): void;
  delete(hash: string): void;
  /**
   * Waits 5 s, and then reads the hashes of the newest API key secrets from the database, because other processes may
   * have issued new secrets. While `readSoon` is already waiting or reading, another call of `readSoon` has no effect.
   */
  readSoon(): void;
}

/**
 * Creates the set in which one gateway process keeps the hashes of API key secrets.
 *
 * @param read a function that reads the hashes of the newest API key secrets, at most `limit` of them
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
          .catch(() => undefined) // if the database is unreachable, the next call of `readSoon` reads the hashes again
          .finally(() => (nextRead = undefined));
      }, readIntervalMs).unref();
    },
  };
}
