import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { ServiceError } from '../errors/error-table.ts';

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
  /** Requests in an hour. */
  readonly hourlyLimit: number;
  /** Requests in a minute. */
  readonly burstLimit: number;
  /** When the key ends; null for never. */
  readonly expiresAt: Date | null;
}

/** What a key may do when nothing else is asked for: requests in an hour and in a minute (decisions, "rate limit"). */
export const defaultLimits = { hourlyLimit: 1000, burstLimit: 100 };

/** What must be read with a stored key to know what it reaches. */
export const keyTies = {
  companies: { select: { id: true }, orderBy: { id: 'asc' } },
  locations: { select: { id: true, companyId: true }, orderBy: { id: 'asc' } },
} as const satisfies Prisma.ApiKeyInclude;

/** A stored key with what it is tied to. */
export type TiedApiKey = Prisma.ApiKeyGetPayload<{ include: typeof keyTies }>;

/** Who changes something, and in which request: what a domain function asks of its caller. */
export interface Author {
  key: AuthenticatedKey;
  requestId: string;
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
