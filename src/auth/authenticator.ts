import { hash as digestOf } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../prisma/generated/client/enums.ts';
import type { ApiKeySecret, PrismaClient } from '../../prisma/generated/client/client.ts';
import { createBatch } from '../database/statement-batch.ts';
import { keyInvalid, keyRequired } from '../errors/error-table.ts';
import { anyChange, type PubSub } from '../redis/pub-sub.ts';
import { createFamiliarSecrets } from './familiar-secrets.ts';
import { type AuthenticatedKey, keyTies, type TiedApiKey } from './key.ts';
import { hashSecret, isWellFormedSecret } from './key-secret.ts';

/** Turns the value of `X-API-Key` into the key behind it. */
export interface Authenticator {
  /**
   * The key of a request, at once when it is cached.
   *
   * @throws {ServiceError} `UNAUTHORIZED`, with one message for every reason but a missing key
   */
  authenticate(secret: string | undefined): AuthenticatedKey | Promise<AuthenticatedKey>;
  /**
   * The key of a request as far as this process knows without asking the database; undefined when only a
   * look-up can tell.
   *
   * @throws {ServiceError} `UNAUTHORIZED` when it is known already that the secret opens nothing
   */
  cachedKey(secret: string | undefined): AuthenticatedKey | undefined;
  /** Which secrets open the service or did: a client that shows one of them does not invent keys. */
  familiar: {
    has(secret: string | undefined): boolean;
    /** Notes a secret that this process issues, by its hash. */
    add(hash: string): void;
    /** Has secrets that other processes issued read within 5 s; no call causes a read of its own. */
    readSoon(): void;
  };
  /** Makes every process look a changed key up anew. Called after the change is committed. */
  keysChanged(): Promise<void>;
  /** Calls a listener when any key may have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void;
}

/** How long a look-up may be repeated from memory, in milliseconds. */
const cachedForMs = 5_000;
/** The same while notices of other processes may be missed (decisions: a revocation is late by 500 ms at most). */
const cachedWithoutNoticesMs = 500;
/** How many valid keys are remembered: about 1 KiB each. */
const maxCachedKeys = 10_000;
/** How many unknown secrets are remembered, apart from the valid ones, so that invented secrets push no valid key out. */
const maxCachedUnknown = 10_000;

const channel = 'keys-changed';

/** A key with the time at which its secret ends, by the clock that nobody sets (`performance.now`), in milliseconds. */
interface FoundKey {
  key: AuthenticatedKey;
  endsAtMs: number;
}

/**
 * Creates the authenticator of one process. Look-ups are cached for a few seconds, those of unknown secrets
 * too; a notice over `pubSub` empties the caches of every process at once.
 *
 * @param options.operatorSecret a value from the configuration that is a key although it may not have the form of one
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
  const familiar = createFamiliarSecrets((limit) => newestHashes(prisma, limit));
  if (operatorSecret) familiar.add(hashSecret(operatorSecret, pepper));
  // The look-ups of one turn are one statement, so that a flood of new secrets costs little more than one.
  const findKey = createBatch((hashes: readonly string[]) => findKeys(prisma, hashes, environment));

  const changes = new EventEmitter().setMaxListeners(0);

  function forget(): void {
    keys.clear();
    unknown.clear();
    lookUps.clear(); // a look-up that is running may have read the state before the change
    changes.emit('change');
  }
  await pubSub.subscribe(channel, forget);
  pubSub.onConnectionChange(forget);

  function remember(hash: string, found: FoundKey | undefined): void {
    const ttl = pubSub.connected ? cachedForMs : cachedWithoutNoticesMs;
    if (found) {
      keys.set(hash, found, { ttl });
      familiar.add(hash);
    } else {
      unknown.set(hash, true, { ttl });
      familiar.delete(hash);
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

  /** The hashes of secrets that were asked for, by a digest that takes a seventh of their time. */
  const hashes = new LRUCache<string, string>({ max: maxCachedKeys });

  /** The hash of a secret that may be one of this service. */
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
    familiar: {
      has: (secret) => familiar.has(hashOf(secret)),
      add: familiar.add,
      readSoon: familiar.readSoon,
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

/** The hashes of the newest secrets, at most so many. */
async function newestHashes(prisma: PrismaClient, limit: number): Promise<string[]> {
  const newest = await prisma.apiKeySecret.findMany({
    select: { hash: true },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return newest.map(({ hash }) => hash);
}

/** A secret, and the time at which the database found it. */
type FoundSecret = Pick<ApiKeySecret, 'hash' | 'apiKeyId' | 'expiresAt'> & { now: Date };

/** The keys behind some hashes, in the order of the hashes; undefined for a hash that opens nothing here. */
async function findKeys(
  prisma: PrismaClient,
  hashes: readonly string[],
  environment: Environment,
): Promise<(FoundKey | undefined)[]> {
  const askedAtMs = performance.now();
  // One statement whatever the number of hashes, and the only one when they are all unknown.
  const secrets = await prisma.$queryRaw<FoundSecret[]>`
    SELECT hash, "apiKeyId", "expiresAt", now() FROM "ApiKeySecret" WHERE hash = ANY(${hashes}::text[])`;
  const secretByHash = new Map(secrets.map((secret) => [secret.hash, secret]));
  const keyById = secrets.length > 0 ? await readKeys(prisma, secrets, environment) : undefined;
  return hashes.map((hash) => {
    const secret = secretByHash.get(hash);
    const key = secret && keyById?.get(secret.apiKeyId);
    if (!key) return undefined;
    // What is left is told by the clock of the database: that of this process may be wrong.
    const left = [secret.expiresAt, key.expiresAt].map((end) =>
      end ? end.getTime() - secret.now.getTime() : Infinity,
    );
    return { key, endsAtMs: askedAtMs + Math.min(...left) };
  });
}

/** The keys of some secrets, by their ids: those of the environment that are not revoked. */
async function readKeys(
  prisma: PrismaClient,
  secrets: readonly { apiKeyId: string }[],
  environment: Environment,
): Promise<Map<string, AuthenticatedKey>> {
  const rows = await prisma.apiKey.findMany({
    where: { id: { in: secrets.map(({ apiKeyId }) => apiKeyId) }, environment, revokedAt: null },
    include: keyTies,
  });
  return new Map(rows.map((row) => [row.id, authenticatedKey(row)]));
}

function authenticatedKey({ companies, locations, ...row }: TiedApiKey): AuthenticatedKey {
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
