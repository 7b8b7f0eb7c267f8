import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { ServiceError } from '../errors/error-table.ts';

/** The API key of a request, with its permissions, its scope and its limits. */
export interface AuthenticatedKey {
  readonly id: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Whether the key is an operator's key, which has access to every company and location. */
  readonly unrestricted: boolean;
  /** The companies in the key's scope. All their locations are in the scope, too. */
  readonly companyIds: readonly string[];
  /** The locations that are in the key's scope although their company is not. */
  readonly locationIds: readonly string[];
  /**
   * The companies that the key may see. They are the companies in its scope, and the companies that own the locations
   * in its scope.
   */
  readonly visibleCompanyIds: readonly string[];
  /** The maximum number of requests in an hour. */
  readonly hourlyLimit: number;
  /** The maximum number of requests in a minute. */
  readonly burstLimit: number;
  /** When the key expires; null means never. */
  readonly expiresAt: Date | null;
}

/**
 * The default rate limits of an API key: the maximum number of requests in an hour and in a minute
 * (docs/contract.md#rate-limit).
 */
export const defaultLimits = { hourlyLimit: 1000, burstLimit: 100 };

/** The Prisma option that also reads the scope of a stored API key. */
export const keyScopeRelations = {
  companies: { select: { id: true }, orderBy: { id: 'asc' } },
  locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } },
} as const satisfies Prisma.ApiKeyInclude;

/** A stored API key with its scope. */
export type ScopedApiKey = Prisma.ApiKeyGetPayload<{ include: typeof keyScopeRelations }>;

/**
 * The author of a change, which consists of the API key and the request. Every function that changes data receives the
 * author as an argument.
 */
export interface Author {
  key: AuthenticatedKey;
  requestId: string;
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
