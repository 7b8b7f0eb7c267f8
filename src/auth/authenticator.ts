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

/** Finds the API key of the secret that a client sends in `X-API-Key`. */
export interface Authenticator {
  /**
   * Returns the key of a secret. The result is a promise only when the key is not cached.
   *
   * @throws {ServiceError} `UNAUTHORIZED`. The message is the same for every reason, except for a missing key
   */
  authenticate(secret: string | undefined): AuthenticatedKey | Promise<AuthenticatedKey>;
  /**
   * Returns the key of a secret from the cache; undefined when the database must be read.
   *
   * @throws {ServiceError} `UNAUTHORIZED` when the cache says that the secret is invalid
   */
  cachedKey(secret: string | undefined): AuthenticatedKey | undefined;
  /**
   * The hashes of all secrets that are valid now or were valid before. A client that sends such a secret did not guess
   * it at random.
   */
  knownSecretHashes: {
    has(secret: string | undefined): boolean;
    /** Adds the hash of a secret that this process issued. */
    add(hash: string): void;
    /** Schedules a read, within 5 s, of the secrets that other processes issued. Calls before that read share it. */
    readSoon(): void;
  };
  /** Empties the key caches of all processes. Call it after a change of a key is committed. */
  keysChanged(): Promise<void>;
  /** Calls a listener when any key may have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void;
}

/** How long the result of a look-up stays in the cache, in milliseconds. */
const cachedForMs = 5_000;
/**
 * How long the result of a look-up stays in the cache while the connection to Redis is lost, in milliseconds. Without
 * Redis, this process can miss the notice of a revocation, so a revoked key may still work for this time.
 */
const cachedWithoutNoticesMs = 500;
/** The maximum number of valid keys in the cache, of about 1 KiB each. */
const maxCachedKeys = 10_000;
/**
 * The maximum number of unknown secrets in the cache. Unknown secrets have a separate cache, so that random secrets
 * cannot evict valid keys.
 */
const maxCachedUnknown = 10_000;

const channel = 'keys-changed';

/** An API key with the expiry of its secret, in milliseconds of the monotonic clock (`performance.now`). */
interface FoundKey {
  key: AuthenticatedKey;
  endsAtMs: number;
}

/**
 * Creates the authenticator of one process. The authenticator caches the result of each look-up for a few seconds, even
 * when no key was found. A notice over `pubSub` empties the caches of all processes.
 *
 * @param options.operatorSecret the secret in OPERATOR_API_KEY, which need not have the form of other secrets
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
  // All look-ups of one iteration of the event loop share one statement, so a flood of new secrets costs little more
  // than one secret.
  const findKey = createQueryBatch((hashes: readonly string[]) => findKeys(prisma, hashes, environment));

  const changes = new EventEmitter().setMaxListeners(0);

  function forget(): void {
    keys.clear();
    unknown.clear();
    lookUps.clear(); // a running look-up may have read the old state of the key
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
   * Maps the SHA-256 digest of a recently used secret to the hash of the secret. The digest takes a seventh of the time
   * of the hash.
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

/** Reads the hashes of the newest secrets, up to a limit. */
async function newestHashes(prisma: PrismaClient, limit: number): Promise<string[]> {
  const newest = await prisma.apiKeySecret.findMany({
    select: { hash: true },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return newest.map(({ hash }) => hash);
}

/** A stored secret with its expiry, and the time of the read by the database clock. */
type FoundSecret = Pick<ApiKeySecret, 'hash' | 'apiKeyId' | 'expiresAt'> & { now: Date };

/**
 * Returns the keys of secret hashes, in the order of the hashes. The result is undefined for a hash without a valid key
 * in this environment.
 */
async function findKeys(
  prisma: PrismaClient,
  hashes: readonly string[],
  environment: Environment,
): Promise<(FoundKey | undefined)[]> {
  const askedAtMs = performance.now();
  // One statement reads all hashes. The keys are read only when a hash is found.
  const secrets = await prisma.$queryRaw<FoundSecret[]>`
    SELECT hash, "apiKeyId", "expiresAt", now() FROM "ApiKeySecret" WHERE hash = ANY(${hashes}::text[])`;
  const secretByHash = new Map(secrets.map((secret) => [secret.hash, secret]));
  const keyById = secrets.length > 0 ? await readKeys(prisma, secrets, environment) : undefined;
  return hashes.map((hash) => {
    const secret = secretByHash.get(hash);
    const key = secret && keyById?.get(secret.apiKeyId);
    if (!key) return undefined;
    // The remaining time comes from the clock of the database, because the clock of this process may be wrong.
    const left = [secret.expiresAt, key.expiresAt].map((end) =>
      end ? end.getTime() - secret.now.getTime() : Infinity,
    );
    return { key, endsAtMs: askedAtMs + Math.min(...left) };
  });
}

/** Reads the keys of secrets, by their ids. Revoked keys and keys of other environments are omitted. */
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
