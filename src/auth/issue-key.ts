import type { Permission } from '../../prisma/generated/client/enums.ts';
import { recordChange } from '../audit/record.ts';
import { ServiceError } from '../errors/error-table.ts';
import { newId } from '../ids.ts';
import { requireGrantable } from './grant.ts';
import { type AuthenticatedKey, defaultLimits, keyTies } from './key.ts';
import { auditedKey, createSecret, type IssuedKey, type KeyManagement } from './managed-key.ts';

/** A key to issue, as a client asks for it. */
export interface KeyRequest {
  name: string;
  permissions: readonly Permission[];
  companyIds?: readonly string[] | null | undefined;
  locationIds?: readonly string[] | null | undefined;
  hourlyLimit?: number | null | undefined;
  burstLimit?: number | null | undefined;
  expiresAt?: Date | null | undefined;
  /** Asks for an operator's key, which reaches everything. */
  unrestricted?: boolean | null | undefined;
}

/**
 * Issues a key.
 *
 * @throws {ServiceError} `FORBIDDEN` for what the issuing key lacks (decisions, "keys"), `NOT_FOUND` for
 *   locations out of its reach
 */
export async function issueKey(management: KeyManagement, request: KeyRequest): Promise<IssuedKey> {
  const { key, prisma, environment } = management;
  const grant = {
    permissions: [...new Set(request.permissions)],
    companyIds: [...new Set(request.companyIds)],
    locationIds: [...new Set(request.locationIds)],
    ...limitsOf(key, request),
    expiresAt: request.expiresAt ?? (key.unrestricted ? null : key.expiresAt),
  };
  const unrestricted = request.unrestricted ?? false;
  if (!key.unrestricted) requireTies(unrestricted, grant);
  const { companyIds, locationIds, ...values } = grant;
  const { secret, stored } = createSecret(management);

  const apiKey = await prisma.$transaction(async (transaction) => {
    await requireGrantable(transaction, key, grant);
    const created = await transaction.apiKey.create({
      data: {
        ...values,
        id: newId(),
        name: request.name,
        environment,
        unrestricted,
        companies: { connect: companyIds.map((id) => ({ id })) },
        locations: { connect: locationIds.map((id) => ({ id })) },
        secrets: { create: stored },
      },
      include: keyTies,
    });
    await recordChange(transaction, management, {
      action: 'api_key.created',
      targetId: created.id,
      changes: auditedKey(created),
    });
    return created;
  });
  return { secret, apiKey };
}

/** The limits that were asked for; otherwise the default ones, or those of the issuing key when they are lower. */
function limitsOf(key: AuthenticatedKey, { hourlyLimit, burstLimit }: KeyRequest) {
  const own = key.unrestricted ? defaultLimits : key;
  return {
    hourlyLimit: hourlyLimit ?? Math.min(defaultLimits.hourlyLimit, own.hourlyLimit),
    burstLimit: burstLimit ?? Math.min(defaultLimits.burstLimit, own.burstLimit),
  };
}

/**
 * Lets a request of a restricted key pass that ties the new key to something: nobody of its company could see
 * or revoke a key without ties.
 */
function requireTies(
  unrestricted: boolean,
  { companyIds, locationIds }: { companyIds: readonly string[]; locationIds: readonly string[] },
): void {
  if (unrestricted) {
    const message = "Only an operator's key can issue an operator's key";
    throw new ServiceError('FORBIDDEN', message, { field: 'unrestricted', value: true });
  }
  if (companyIds.length + locationIds.length === 0) {
    const message = 'API key must tie the new key to a company or a location: name companyIds or locationIds';
    throw new ServiceError('FORBIDDEN', message, { field: 'companyIds', value: companyIds });
  }
}
