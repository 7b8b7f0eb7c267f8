import { hash as digestOf } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../prisma/generated/client/enums.ts';
import type { ApiKeySecret, PrismaClient } from '../../prisma/generated/client/client.ts';
import { createQueryBatch } from '../database/statement-batch.ts';
import { keyInvalid, keyRequired } from '../errors/error-table.ts';
import { anyChange, type PubSub } from '../redis/pub-sub.ts';
import { createKnownSecretHashes } from './known-secret-hashes.ts';
import { type AuthenticatedKey, keyScopeRelations, type ScopedApiKey } from './key.ts';
import { hashSecret, isWellFormedSecret } from './key-secret.ts';

/** Finds the API key that belongs to the secret in the header `X-API-Key`. */
export interface Authenticator {
  /**
   * Returns the API key of a secret. The result is a promise only when the API key is not cached.
   *
   * @throws {ServiceError} `UNAUTHORIZED`. The message is the same for every reason, except for a missing secret
   */
  authenticate(secret: string | undefined): AuthenticatedKey | Promise<AuthenticatedKey>;
  /**
   * Returns the API key of a secret from the cache, or undefined when the database must be read.
   *
   * @throws {ServiceError} `UNAUTHORIZED` when the cache says that the secret is invalid
   */
  cachedKey(secret: string | undefined): AuthenticatedKey | undefined;
  /** The hashes of all secrets that are valid or were valid earlier. A client with such a secret is not guessing. */
  knownSecretHashes: {
    has(secret: string | undefined): boolean;
    /** Adds the hash of a secret that this process issued. */
    add(hash: string): void;
    /**
     * Plans to read the hashes of new secrets from other processes within 5 s. All calls before that time cause a
     * single read.
     */
    readSoon(): void;
  };
  /** Empties the caches of API keys in all processes. Call this function after a change of an API key is committed. */
  keysChanged(): Promise<void>;
  /** Calls `listener` each time any API key may have changed. Returns a function that stops these calls. */
  onKeysChanged(listener: () => void): () => void;
}

/** How long the result of a look-up of an API key stays in the cache, in milliseconds. */
const cachedForMs = 5_000;
/**
 * How long the result of a look-up of an API key stays in the cache while the connection to Redis is lost, in
 * milliseconds. Without Redis, this process may miss the notice that a key was revoked. A revoked key can therefore
 * still work for this time.
 */
const cachedWithoutNoticesMs = 500;
/** The maximum number of valid API keys in the cache. Each API key takes about 1 KiB. */
const maxCachedKeys = 10_000;
/**
 * The maximum number of invalid secrets in the cache. They have a cache of their own, so that random secrets cannot
 * displace valid API keys.
 */
const maxCachedUnknown = 10_000;

const channel = 'keys-changed';

/** An API key, with the time at which its secret expires, by the monotonic clock (`performance.now`). */
interface FoundKey {
  key: AuthenticatedKey;
  endsAtMs: number;
}

/**
 * Creates the authenticator of one process. It caches the result of each look-up of an API key for a few seconds, even
 * when no key was found. When a key changes, a notice over `pubSub` empties the caches of all processes.
 *
 * @param options.operatorSecret the secret in OPERATOR_API_KEY, which may have another form than other secrets
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
  // One SQL statement looks up all secrets of the same iteration of the event loop. A flood of new secrets therefore
  // costs little more than a single secret.
  const findKey = createQueryBatch((hashes: readonly string[]) => findKeys(prisma, hashes, environment));

  const changes = new EventEmitter().setMaxListeners(0);

  function forget(): void {
    keys.clear();
    unknown.clear();
    lookUps.clear(); // a running look-up may have read the earlier state of the key
    changes.emit('change');
  }
  await pubSub.subscribe(channel, forget);
  pubSub.onConnectionChange(forget);

  function remember(hash: string, found: FoundKey | undefined): void {
    const ttl = pubSub.connected ? cachedForMs : cachedWithoutNoticesMs;
    if (found) {
      keys.set(hash, found, { ttl });
      knownSecretHashes.add(hash);
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
   * A cache of the hashes of recently used secrets. Its keys are SHA-256 digests of the secrets, which take only a
   * seventh of the time of the hash.
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

/** Reads the hashes of the newest secrets, up to a maximum number. */
async function newestHashes(prisma: PrismaClient, limit: number): Promise<string[]> {
  const newest = await prisma.apiKeySecret.findMany({
    select: { hash: true },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return newest.map(({ hash }) => hash);
}

/** A stored secret with the time at which it expires. `now` is the time of the read by the clock of the database. */
type FoundSecret = Pick<ApiKeySecret, 'hash' | 'apiKeyId' | 'expiresAt'> & { now: Date };

/**
 * Returns the API key for each hash of a secret, in the order of the hashes. The result for a hash is undefined if it
 * has no valid API key in this environment.
 */
async function findKeys(
  prisma: PrismaClient,
  hashes: readonly string[],
  environment: Environment,
): Promise<(FoundKey | undefined)[]> {
  const askedAtMs = performance.now();
  // One statement looks up all hashes. The API keys are read only if at least one hash exists.
  const secrets = await prisma.$queryRaw<FoundSecret[]>`
    SELECT hash, "apiKeyId", "expiresAt", now() FROM "ApiKeySecret" WHERE hash = ANY(${hashes}::text[])`;
  const secretByHash = new Map(secrets.map((secret) => [secret.hash, secret]));
  const keyById = secrets.length > 0 ? await readKeys(prisma, secrets, environment) : undefined;
  return hashes.map((hash) => {
    const secret = secretByHash.get(hash);
    const key = secret && keyById?.get(secret.apiKeyId);
    if (!key) return undefined;
    // The remaining lifetime is computed with the clock of the database, because the clock of this process may be
    // wrong.
    const left = [secret.expiresAt, key.expiresAt].map((end) =>
      end ? end.getTime() - secret.now.getTime() : Infinity,
    );
    return { key, endsAtMs: askedAtMs + Math.min(...left) };
  });
}

/**
 * Reads the API keys of secrets by the ids of the API keys. Revoked API keys and API keys of other environments are
 * omitted.
 */
async function readKeys(
  prisma: PrismaClient,
  secrets: readonly { apiKeyId: string }[],
  environment: Environment,
): Promise<Map<string, AuthenticatedKey>> {
  const rows = await prisma.apiKey.findMany({
    where: { id: { in: secrets.map(({ apiKeyId }) => apiKeyId) }, environment, revokedAt: null },
    include: keyScopeRelations,
  });
  return new Map(rows.map((row) => [row.id, authenticatedKey(row)]));
}

function authenticatedKey({ companies, locations, ...row }: ScopedApiKey): AuthenticatedKey {
  const companyIds = companies.map(({ id }) => id);
  return {
    id: row.id,
    permissions: new Set(row.permissions),
    unrestricted: row.unrestricted,
    companyIds,
    locationIds: locations.map(({ id }) => id),
    visibleCompanyIds: [...new Set([...companyIds, ...locations.map(({ companyId }) => companyId)])],
    hourlyLimit: row.hourlyLimit,
    burstLimit: row.burstLimit,
    expiresAt: row.expiresAt,
  };
}
