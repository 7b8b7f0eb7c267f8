import { hash as digestOf } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../prisma/generated/client/enums.ts';
import type { ApiKeySecret, PrismaClient } from '../../prisma/generated/client/client.ts';
import { createQueryBatch } from '../database/statement-batch.ts';
import { keyInvalid, keyRequired } from '../errors/error-table.ts';
import { anyChange, type PubSub } from '../redis/pub-sub.ts';
import { createKnownSecretHashes, type KnownSecretHashes } from './known-secret-hashes.ts';
import { authenticatedKey, type AuthenticatedKey, keyScopeRelations, type ScopedApiKey } from './key.ts';
import { hashSecret, isWellFormedSecret } from './key-secret.ts';

/** Finds the API key that belongs to the secret in the header `X-API-Key`. */
export interface Authenticator {
  /**
   * Returns the API key to which a secret belongs. `authenticate` returns the API key itself if the cache contains it,
   * and otherwise a promise of the API key.
   *
   * @throws {ServiceError} `UNAUTHORIZED`. The error message is the same for all invalid secrets; a missing secret has
   *   a different error message
   */
  authenticate(secret: string | undefined): AuthenticatedKey | Promise<AuthenticatedKey>;
  /**
   * Looks up the API key that belongs to a secret. Reads only the cache, and never the database. Returns `undefined` if
   * the cache contains no result for the secret.
   *
   * @throws {ServiceError} `UNAUTHORIZED` when the secret is invalid according to the cache
   */
  cachedKey(secret: string | undefined): AuthenticatedKey | undefined;
  /**
   * The hashes of API key secrets that the gateway has issued. If the hash of a client's secret is in the set of known
   * hashes, the client did not guess the secret.
   */
  knownSecretHashes: Pick<KnownSecretHashes, 'add' | 'readSoon'> & {
    has(secret: string | undefined): boolean;
  };
  /**
   * Empties the caches of API keys in all gateway processes. Call `keysChanged` after the commit of each transaction
   * that changes an API key.
   */
  keysChanged(): Promise<void>;
  /** Calls `listener` whenever an API key may have changed. The returned function removes `listener`. */
  onKeysChanged(listener: () => void): () => void;
}

/** The time for which the result of an API key look-up stays in the cache, in milliseconds. */
const cachedForMs = 5_000;
/**
 * The time for which the result of an API key look-up stays in the cache while Redis is unreachable, in milliseconds.
 * Without Redis, this process can miss the notice that an API key was revoked. A process that has missed the notice of
 * the revocation accepts the revoked API key until the cached result of the look-up expires.
 */
const cachedWithoutNoticesMs = 500;
/** The maximum number of valid API keys in the cache. Each cached API key occupies about 1 KiB of memory. */
const maxCachedKeys = 10_000;
/**
 * The maximum number of invalid secrets in the cache. Invalid secrets have a cache of their own, so that random secrets
 * cannot displace valid API keys.
 */
const maxCachedUnknown = 10_000;

const channel = 'keys-changed';

/**
 * An API key, with the time at which the API key or its secret expires, whichever time is earlier. The expiry time
 * `endsAtMs` refers to the monotonic clock (`performance.now`).
 */
interface FoundKey {
  key: AuthenticatedKey;
  endsAtMs: number;
}

/**
 * Creates the authenticator of one process. The authenticator caches the result of each look-up of an API key for a few
 * seconds, even if the look-up found no API key. When an API key changes, a notice over `pubSub` tells all gateway
 * processes to empty their API key caches.
 *
 * @param options.operatorSecret the secret in OPERATOR_API_KEY, which may have another format than the secrets that the
 *   gateway generates
 */
export async function createAuthenticator(options: {
  prisma: PrismaClient;
  pubSub: PubSub;
  environment: Environment;
  pepper: string;
  operatorSecret: string | undefined;
}): Promise<Authenticator> {
  const { prisma, pubSub, environment, pepper, operatorSecret } = options;
  const keys = new LRUCache<string, FoundKey>({ max: maxCachedKeys, ttl: cachedForMs });
  const unknown = new LRUCache<string, true>({ max: maxCachedUnknown, ttl: cachedForMs });
  const lookUps = new Map<string, Promise<FoundKey | undefined>>();
  const knownSecretHashes = createKnownSecretHashes((limit) => newestHashes(prisma, limit));
  if (operatorSecret) knownSecretHashes.add(hashSecret(operatorSecret, pepper));
  // One SQL statement looks up all secrets that arrive in the same iteration of the event loop. The look-up of many
  // unknown secrets therefore takes little more time than the look-up of one secret.
  const findKey = createQueryBatch((hashes: readonly string[]) => findKeys(prisma, hashes, environment));

  const changes = new EventEmitter().setMaxListeners(0);

  function forget(): void {
    keys.clear();
    unknown.clear();
    // A look-up that began before an API key changed may return the old state of the key. The authenticator therefore
    // does not cache the result of an API key look-up that began before an API key changed.
    lookUps.clear();
    changes.emit('change');
  }
  await pubSub.subscribe(channel, forget);
  pubSub.onConnectionChange(forget);

  function remember(hash: string, found: FoundKey | undefined): void {
    const ttl = pubSub.connected ? cachedForMs : cachedWithoutNoticesMs;
    if (found) {
      keys.set(hash, found, { ttl });
    } else {
      unknown.set(hash, true, { ttl });
      knownSecretHashes.delete(hash);
    }
  }

  function lookUp(hash: string): Promise<FoundKey | undefined> {
    const running = lookUps.get(hash);
    if (running) return running;
    const started = findKey(hash)
      .then((found) => {
        if (found) knownSecretHashes.add(hash);
        if (lookUps.get(hash) === started) remember(hash, found);
        return found;
      })
      .finally(() => {
        if (lookUps.get(hash) === started) lookUps.delete(hash);
      });
    lookUps.set(hash, started);
    return started;
  }

  /**
   * A cache of the hashes of recently used secrets. The cache maps the SHA-256 digest of each secret to the HMAC hash
   * of the secret. The cache saves processor time, because a process computes a SHA-256 digest seven times as fast as
   * an HMAC hash.
   */
  const hashes = new LRUCache<string, string>({ max: maxCachedKeys });

  /**
   * Returns the hash of a secret.
   *
   * @throws {ServiceError} `UNAUTHORIZED` when the secret is missing or does not have the form of a secret
   */
  function hashOf(secret: string | undefined): string {
    if (!secret) throw keyRequired;
    const digest = digestOf('sha256', secret, 'base64');
    const known = hashes.get(digest);
    if (known) return known;
    if (secret !== operatorSecret && !isWellFormedSecret(secret)) throw keyInvalid;
    const computed = hashSecret(secret, pepper);
    hashes.set(digest, computed);
    return computed;
  }

  function cached(hash: string): AuthenticatedKey | undefined {
    if (unknown.has(hash)) throw keyInvalid;
    const found = keys.get(hash);
    return found && usable(found);
  }

  return {
    authenticate(secret) {
      const hash = hashOf(secret);
      return cached(hash) ?? lookUp(hash).then(usable);
    },
    cachedKey: (secret) => cached(hashOf(secret)),
    knownSecretHashes: {
      has: (secret) => knownSecretHashes.has(hashOf(secret)),
      add: knownSecretHashes.add,
      readSoon: knownSecretHashes.readSoon,
    },
    async keysChanged() {
      forget();
      await pubSub.publish(channel, anyChange);
    },
    onKeysChanged(listener) {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
  };
}

function usable(found: FoundKey | undefined): AuthenticatedKey {
  if (!found || found.endsAtMs <= performance.now()) throw keyInvalid;
  return found.key;
}

/** Reads the hashes of the newest API key secrets from the database, at most `limit` of them. */
async function newestHashes(prisma: PrismaClient, limit: number): Promise<string[]> {
  const newest = await prisma.apiKeySecret.findMany({
    select: { hash: true },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return newest.map(({ hash }) => hash);
}

/**
 * A stored secret with the time at which it expires. `now` is the time at which the gateway read the secret, according
 * to the clock of the database.
 */
type FoundSecret = Pick<ApiKeySecret, 'id' | 'hash' | 'apiKeyId' | 'expiresAt'> & { now: Date };

/**
 * Returns one API key for each given hash of a secret, in the order of the hashes. The array contains `undefined` for
 * an unknown hash, and for a hash whose API key is revoked or belongs to another environment. The array can contain an
 * expired API key: the function `usable` checks the expiry time later.
 */
async function findKeys(
  prisma: PrismaClient,
  hashes: readonly string[],
  environment: Environment,
): Promise<(FoundKey | undefined)[]> {
  const askedAtMs = performance.now();
  // One SQL statement looks up all given hashes of secrets. If the database contains at least one of the given hashes,
  // a second SQL statement reads the API keys to which the hashes belong.
  const secrets = await prisma.$queryRaw<FoundSecret[]>`
    SELECT id, hash, "apiKeyId", "expiresAt", now() FROM "ApiKeySecret" WHERE hash = ANY(${hashes}::text[])`;
  const secretByHash = new Map(secrets.map((secret) => [secret.hash, secret]));
  const keyById = secrets.length > 0 ? await readKeys(prisma, secrets, environment) : undefined;
  return hashes.map((hash) => {
    const secret = secretByHash.get(hash);
    const row = secret && keyById?.get(secret.apiKeyId);
    if (!row) return undefined;
    // The remaining lifetime of a secret is computed with the clock of the database, because the clock of this process
    // may be wrong.
    const left = [secret.expiresAt, row.expiresAt].map((end) =>
      end ? end.getTime() - secret.now.getTime() : Infinity,
    );
    return { key: authenticatedKey(row, secret.id), endsAtMs: askedAtMs + Math.min(...left) };
  });
}

/**
 * Reads the API keys to which the given secrets belong. `readKeys` omits revoked API keys and API keys of other
 * environments.
 */
async function readKeys(
  prisma: PrismaClient,
  secrets: readonly { apiKeyId: string }[],
  environment: Environment,
): Promise<Map<string, ScopedApiKey>> {
  const rows = await prisma.apiKey.findMany({
    where: { id: { in: secrets.map(({ apiKeyId }) => apiKeyId) }, environment, revokedAt: null },
    include: keyScopeRelations,
  });
  return new Map(rows.map((row) => [row.id, row]));
}
