import { LRUCache } from 'lru-cache';

/** How many secrets are known as familiar: about 150 bytes each. */
const maxFamiliarSecrets = 100_000;
/** The shortest time between two reads of the familiar secrets, in milliseconds. */
const readIntervalMs = 5_000;

/**
 * The hashes of secrets that open the service or did. They tell a client with a valid key from one that invents
 * keys, without a look-up, when both share an address whose budget is spent. A familiar secret is not a valid one:
 * it is still looked up.
 */
export interface FamiliarSecrets {
  has(hash: string): boolean;
  add(hash: string): void;
  delete(hash: string): void;
  /** Has the newest secrets read within 5 s. No call causes a read of its own. */
  readSoon(): void;
}

/**
 * Creates the familiar secrets of one process.
 *
 * @param read reads the hashes of the newest secrets, at most so many
 */
export function createFamiliarSecrets(read: (limit: number) => Promise<string[]>): FamiliarSecrets {
  const hashes = new LRUCache<string, true>({ max: maxFamiliarSecrets });
  let nextRead: NodeJS.Timeout | undefined;

  return {
    has: (hash) => hashes.has(hash),
    add: (hash) => void hashes.set(hash, true),
    delete: (hash) => void hashes.delete(hash),
    readSoon() {
      nextRead ??= setTimeout(() => {
        read(maxFamiliarSecrets)
          .then((newest) => newest.forEach((hash) => hashes.set(hash, true)))
          .catch(() => undefined) // the database is away: whoever asks next makes it try again
          .finally(() => (nextRead = undefined));
      }, readIntervalMs).unref();
    },
  };
}
