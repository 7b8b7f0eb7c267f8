import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { isTiedToCompany } from '../auth/scope.ts';
import { companyForbidden, invalidField, ServiceError } from '../errors/error-table.ts';
import { isId } from '../ids.ts';

/**
 * The company that something new belongs to (decisions, "POST /locations").
 *
 * @param companyId what the client sent; may be left out when the key reaches exactly one company
 * @param what is created, in the plural, for the error message
 * @throws {ServiceError} `FORBIDDEN` for a company that the key is not tied to and for a key without
 *   companies, `VALIDATION_ERROR` when the company must be named
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
  if (companyId) {
    const tied = isId(companyId) && isTiedToCompany(key, companyId);
    if (!tied || !(await prisma.company.findUnique({ where: { id: companyId }, select: { id: true } }))) {
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
