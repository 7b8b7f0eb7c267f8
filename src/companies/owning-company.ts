import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { hasCompanyInScope } from '../auth/scope.ts';
import { companyForbidden, invalidField, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';

/**
 * Returns the id of the company that will own a new object, such as a location (docs/contract.md#location).
 *
 * @param companyId the company id that the client sent. If exactly one company is in the scope of the API key, the
 *   client may omit the company id
 * @param what the plural name of the new object for the error message, such as `locations`
 * @throws {ServiceError} `FORBIDDEN` for a company outside the scope of the API key, and for an API key whose scope
 *   contains no company
 * @throws {ServiceError} `VALIDATION_ERROR` when `companyId` is omitted although several companies are in the scope of
 *   the API key
 */
export async function owningCompany(
  prisma: PrismaClient,
  key: AuthenticatedKey,
  companyId: string | null | undefined,
  what: string,
): Promise<string> {
  if (!key.unrestricted && key.companyIds.length === 0) {
    throw new ServiceError('FORBIDDEN', `API key is not tied to a company and cannot create ${what}`);
  }
  if (companyId !== null && companyId !== undefined) {
    const isInScope = isId(companyId) && hasCompanyInScope(key, companyId);
    if (
      !isInScope ||
      !(await prisma.company.findUnique({ where: { id: companyId }, select: { id: true } }))
    ) {
      throw companyForbidden(companyId);
    }
    return companyId;
  }
  const companies = key.unrestricted
    ? (await prisma.company.findMany({ select: { id: true }, take: 2 })).map((company) => company.id)
    : key.companyIds;
  const [only, ...others] = companies;
  if (!only || others.length > 0) throw invalidField('companyId', 'Missing required field: companyId', null);
  return only;
}
