import type { Company, Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Author } from '../auth/key.ts';
import { hasCompanyInScope } from '../auth/scope.ts';
import { databaseNow } from '../database/clock.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { lockRow } from '../database/row-lock.ts';
import type { Transaction } from '../database/types.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { companyForbidden, ServiceError } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';
import { writeSettings } from './statements.ts';

/** The fields of a new company. */
export type CompanyValues = Pick<
  Prisma.CompanyCreateInput,
  'name' | 'slug' | 'address' | 'externalCompanyId' | 'description' | 'phone' | 'email' | 'website' | 'logo'
> & {
  /** The settings of the company. The settings are a JSON object with any content. */
  settings?: unknown;
};

/**
 * A client's new values for the fields of one company. If a field is undefined, the gateway does not change this field
 * of the company. The value null clears an optional field, and leaves a required field unchanged.
 */
export type CompanyChanges = {
  [Field in keyof Omit<CompanyValues, 'slug'>]?: CompanyValues[Field] | null;
};

/**
 * Stores the settings of a company, and returns the company with the stored settings. If the client sent no company
 * settings, the stored settings stay unchanged. If the client sent null instead of company settings, the gateway
 * removes the stored settings of the company.
 */
async function withSettings(
  transaction: Transaction,
  company: Company,
  settings: CompanyValues['settings'],
): Promise<Company> {
  if (settings === undefined) return company;
  const text = settings === null ? null : JSON.stringify(settings);
  await queryInTransaction(transaction, writeSettings, { id: company.id, settings: text });
  return { ...company, settings: settings as Prisma.JsonValue };
}

/** The functions that insert and change companies in one database. */
export type CompanyWrites = ReturnType<typeof createCompanyWrites>;

/** Creates the functions that insert and change companies in the database. */
export function createCompanyWrites(services: { prisma: PrismaClient; authenticator: Authenticator }) {
  const { prisma, authenticator } = services;
  return {
    /**
     * Registers a company, and adds the company to the scope of the API key that sent the request
     * (docs/contract.md#company). If an operator's key sent the request, the scope of this key does not change, because
     * it already contains every company.
     *
     * @throws {ServiceError} `CONFLICT_ERROR` when another company already has the same slug
     */
    async register(author: Author, values: CompanyValues): Promise<Company> {
      const { key } = author;
      const company = await prisma
        .$transaction(async (transaction) => {
          const { settings, ...columns } = values;
          const created = await transaction.company.create({
            data: {
              ...columns,
              id: newId(),
              ...(!key.unrestricted && { apiKeys: { connect: { id: key.id } } }),
            },
          });
          const registered = await withSettings(transaction, created, settings ?? undefined);
          await recordChange(transaction, author, {
            action: 'company.registered',
            targetId: registered.id,
            companyId: registered.id,
            changes: registered,
          });
          return registered;
        })
        .catch((error: unknown) => {
          if (!isUniqueViolation(error, 'company_slug_unique')) throw error;
          throw new ServiceError('CONFLICT_ERROR', 'Company slug already exists', {
            field: 'slug',
            value: values.slug,
          });
        });
      await authenticator.keysChanged();
      return company;
    },

    /**
     * Changes the given fields of a company.
     *
     * @throws {ServiceError} `FORBIDDEN` for an unknown company, and for a company outside the scope of the API key
     */
    async update(author: Author, id: string, changes: CompanyChanges): Promise<Company> {
      const { name, address, settings, ...nullable } = changes;
      if (!isId(id) || !hasCompanyInScope(author.key, id)) throw companyForbidden(id);
      return prisma.$transaction(async (transaction) => {
        await lockRow(transaction, 'Company', id);
        const before = await transaction.company.findUnique({ where: { id } });
        if (!before) throw companyForbidden(id);
        const updated = await transaction.company.update({
          where: { id },
          data: {
            ...nullable,
            name: name ?? undefined,
            address: address ?? undefined,
            updatedAt: await databaseNow(transaction),
          },
        });
        const after = await withSettings(transaction, updated, settings);
        await recordChange(transaction, author, {
          action: 'company.updated',
          targetId: id,
          companyId: id,
          changes: { before, after },
        });
        return after;
      });
    },
  };
}
