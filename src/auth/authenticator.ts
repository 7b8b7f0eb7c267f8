import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { Environment, Permission } from '../prisma/generated/client/enums.ts';
import type { PrismaClient } from '../prisma/generated/client/client.ts';
import { hashSecret, isWellFormedSecret } from './api-key-format.ts';
import { keyInvalid, keyRequired, ServiceError } from './errors.ts';
import type { PubSub } from './pub-sub.ts';

/** The key that makes a request: what it may do, where, and how often. */
export interface AuthenticatedKey {
  readonly id: string;
  readonly permissions: ReadonlySet<Permission>;
  /** An operator's key: reaches every company and location. */
  readonly unrestricted: boolean;
  /** The companies that the key is tied to, with all their locations. */
  readonly companyIds: readonly string[];
  /** The locations that the key is tied to one by one. */
  readonly locationIds: readonly string[];
  /** The companies that the key may see: its own, and those that own a location of its own. */
  readonly visibleCompanyIds: readonly string[];
  readonly hourlyLimit: number;
  readonly burstLimit: number;
}

/** Turns the value of `X-API-Key` into the key behind it. */
export interface Authenticator {
  /**
   * The key of a request, at once when it is cached.
   *
   * @throws {ServiceError} `UNAUTHORIZED`, with one message for every reason but a missing key
   */
  authenticate(secret: string | undefined): AuthenticatedKey | Promise<AuthenticatedKey>;
  /** Makes every process look a changed key up anew. Called after the change is committed. */
  keysChanged(): Promise<void>;
  /** Calls a listener when any key may have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void;
}

/** How long a look-up may be repeated from memory, in milliseconds. */
const cachedFor = 5_000;
/** The same while notices of other processes may be missed. */
const cachedWithoutNotices = 500;
const mostCachedKeys = 10_000;
const channel = 'keys-changed';

interface CachedKey {
  key: AuthenticatedKey;
  endsAt: number;
}

/**
 * Creates the authenticator of one process. Look-ups, unknown keys included, are cached for a few
 * seconds; a notice over `pubSub` empties the cache of every process at once.
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
  const cache = new LRUCache<string, CachedKey | 'unknown'>({ max: mostCachedKeys, ttl: cachedFor });
  const lookUps = new Map<string, Promise<CachedKey | 'unknown'>>();

  const changes = new EventEmitter().setMaxListeners(0);

  function forget(): void {
    cache.clear();
    lookUps.clear(); // what is under way may have read the state before the change
    changes.emit('change');
  }
  await pubSub.subscribe(channel, forget);
  pubSub.onConnectionChange(forget);

  function lookUp(hash: string): Promise<CachedKey | 'unknown'> {
    const running = lookUps.get(hash);
    if (running) return running;
    const started = findKey(prisma, hash, environment)
      .then((found) => {
        if (lookUps.get(hash) === started) {
          cache.set(hash, found, { ttl: pubSub.connected ? cachedFor : cachedWithoutNotices });
        }
        return found;
      })
      .finally(() => {
        if (lookUps.get(hash) === started) lookUps.delete(hash);
      });
    lookUps.set(hash, started);
    return started;
  }

  return {
    authenticate(secret) {
      if (!secret) throw keyRequired;
      if (secret !== operatorSecret && !isWellFormedSecret(secret)) throw keyInvalid;
      const hash = hashSecret(secret, pepper);
      const cached = cache.get(hash);
      return cached ? usable(cached) : lookUp(hash).then(usable);
    },
    async keysChanged() {
      forget();
      await pubSub.publish(channel, '');
    },
    onKeysChanged(listener) {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
  };
}

function usable(found: CachedKey | 'unknown'): AuthenticatedKey {
  if (found === 'unknown' || found.endsAt <= Date.now()) throw keyInvalid;
  return found.key;
}

async function findKey(
  prisma: PrismaClient,
  hash: string,
  environment: Environment,
): Promise<CachedKey | 'unknown'> {
  const secret = await prisma.apiKeySecret.findUnique({
    where: { hash },
    include: {
      apiKey: {
        include: {
          companies: { select: { id: true } },
          locations: { select: { id: true, companyId: true } },
        },
      },
    },
  });
  if (!secret || secret.apiKey.revokedAt || secret.apiKey.environment !== environment) return 'unknown';
  const { apiKey } = secret;
  const companyIds = apiKey.companies.map((company) => company.id);
  return {
    endsAt: Math.min(secret.expiresAt?.getTime() ?? Infinity, apiKey.expiresAt?.getTime() ?? Infinity),
    key: {
      id: apiKey.id,
      permissions: new Set(apiKey.permissions),
      unrestricted: apiKey.unrestricted,
      companyIds,
      locationIds: apiKey.locations.map((location) => location.id),
      visibleCompanyIds: [
        ...new Set([...companyIds, ...apiKey.locations.map((location) => location.companyId)]),
      ],
      hourlyLimit: apiKey.hourlyLimit,
      burstLimit: apiKey.burstLimit,
    },
  };
}

/** A key that registered a company, for the rest of its request. */
export function tiedTo(key: AuthenticatedKey, companyId: string): AuthenticatedKey {
  if (key.unrestricted) return key;
  return {
    ...key,
    companyIds: [...key.companyIds, companyId],
    visibleCompanyIds: [...key.visibleCompanyIds, companyId],
  };
}

/**
 * Lets a key pass that has a permission.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function requirePermission(key: AuthenticatedKey, permission: Permission): void {
  if (!key.permissions.has(permission)) {
    throw new ServiceError('FORBIDDEN', `API key lacks the permission ${permission}`);
  }
}
