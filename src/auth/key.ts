import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { ServiceError } from '../errors/error-table.ts';

/** The API key that a client uses for a request, with the permissions, scope and limits of this API key. */
export interface AuthenticatedKey {
  readonly id: string;
  /**
   * The id of the secret that the client sent. After a rotation, an API key has several valid secrets until the grace
   * period ends.
   */
  readonly secretId: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Whether the API key is an operator's key, which has access to every company and location. */
  readonly unrestricted: boolean;
  /**
   * The ids of the companies in the scope of the API key. If a company is in the scope of an API key, all locations of
   * the company are in the scope, too.
   */
  readonly companyIds: readonly string[];
  /**
   * The ids of the locations that the scope of the API key lists individually. The scope of an API key can list a
   * location without the company that owns the location.
   */
  readonly locationIds: readonly string[];
  /** The locations whose ids are in `locationIds`, with the ids of the companies that own these locations. */
  readonly locations: ScopedApiKey['locations'];
  /**
   * The companies that the API key may see: the companies in its scope, and the companies that own the locations in its
   * scope.
   */
  readonly visibleCompanyIds: readonly string[];
  /** The hourly rate limit of this API key, in points. */
  readonly hourlyLimit: number;
  /** The rate limit of this API key in the burst window, in points. */
  readonly burstLimit: number;
  /** The time at which the API key expires, or null if it never expires. */
  readonly expiresAt: Date | null;
}

/**
 * The default rate limits of an API key: the points for the hourly window and for the burst window
 * (docs/contract-keys.md#rate-limit).
 */
export const defaultLimits = { hourlyLimit: 1000, burstLimit: 100 };

/** The value of Prisma's option `include` for queries that read an API key with its scope. */
export const keyScopeRelations = {
  companies: { select: { id: true }, orderBy: { id: 'asc' } },
  locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } },
} as const satisfies Prisma.ApiKeyInclude;

/** A stored API key with its scope. */
export type ScopedApiKey = Prisma.ApiKeyGetPayload<{ include: typeof keyScopeRelations }>;

/**
 * Creates the `AuthenticatedKey` of a request from a stored API key. `secretId` is the id of the API key secret that
 * the client has sent.
 */
export function authenticatedKey(
  { companies, locations, ...row }: ScopedApiKey,
  secretId: string,
): AuthenticatedKey {
  const companyIds = companies.map(({ id }) => id);
  return {
    id: row.id,
    secretId,
    permissions: new Set(row.permissions),
    unrestricted: row.unrestricted,
    companyIds,
    locationIds: locations.map(({ id }) => id),
    locations,
    visibleCompanyIds: [...new Set([...companyIds, ...locations.map(({ companyId }) => companyId)])],
    hourlyLimit: row.hourlyLimit,
    burstLimit: row.burstLimit,
    expiresAt: row.expiresAt,
  };
}

/**
 * The author of a change: the API key and the id of the request that makes the change. Every function that changes data
 * receives the author of the change as an argument.
 */
export interface Author {
  key: AuthenticatedKey;
  requestId: string;
}

/**
 * The author of a slow change. A slow change may have to wait for a long time, for example until earlier changes have
 * ended. While the change waits, the API key of the author can become invalid.
 */
export interface WaitingAuthor extends Author {
  /**
   * Checks that the author's API key is still valid and has not lost any access (src/auth/reauthenticate.ts).
   *
   * @throws {ServiceError} `UNAUTHORIZED` when the API key is no longer valid, and `FORBIDDEN` when the API key has
   *   lost a permission or a part of its scope
   */
  reauthenticate(): Promise<unknown>;
}

/**
 * Checks that an API key has a permission.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function requirePermission(key: AuthenticatedKey, permission: Permission): void {
  if (!key.permissions.has(permission)) {
    throw new ServiceError('FORBIDDEN', `API key lacks the permission ${permission}`);
  }
}
