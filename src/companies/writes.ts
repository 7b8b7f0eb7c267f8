import { type Company, Prisma, type PrismaClient } from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Author } from '../auth/key.ts';
import { isTiedToCompany } from '../auth/scope.ts';
import { databaseNow } from '../database/clock.ts';
import { isUniqueViolation } from '../database/violations.ts';
import { companyForbidden, ServiceError } from '../errors/error-table.ts';
import { isId, newId } from '../ids.ts';

/** What a client writes of a company. */
export type CompanyValues = Pick<
  Prisma.CompanyCreateInput,
  'name' | 'slug' | 'address' | 'externalCompanyId' | 'description' | 'phone' | 'email' | 'website' | 'logo'
> & {
  /** An object of free content. */
  settings?: unknown;
};

/** What a client changes of a company: undefined leaves a field as it is, and so does null where null is no value. */
export type CompanyChanges = {
  [Field in keyof Omit<CompanyValues, 'slug'>]?: CompanyValues[Field] | null;
};

/** The changes of companies in one database. */
export type CompanyWrites = ReturnType<typeof createCompanyWrites>;

/** Prepares the changes of companies. */
export function createCompanyWrites(services: { prisma: PrismaClient; authenticator: Authenticator }) {
  const { prisma, authenticator } = services;
  return {
    /**
     * Registers a company, and ties the author's key to it unless that is an operator's, which reaches every
     * company anyway (decisions, "a key that registers a company").
     *
     * @throws {ServiceError} `CONFLICT_ERROR` when another company has the slug
     */
    async register(author: Author, values: CompanyValues): Promise<Company> {
      const { key } = author;
      const company = await prisma
        .$transaction(async (transaction) => {
          const registered = await transaction.company.create({
            data: {
              ...values,
              settings: values.settings ?? undefined,
              id: newId(),
              ...(!key.unrestricted && { apiKeys: { connect: { id: key.id } } }),
            },
          });
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
     * Changes the fields that are given.
     *
     * @throws {ServiceError} `FORBIDDEN` for a company that the key is not tied to, and for an unknown one
     */
    async update(author: Author, id: string, changes: CompanyChanges): Promise<Company> {
      const { name, address, settings, ...nullable } = changes;
      if (!isId(id) || !isTiedToCompany(author.key, id)) throw companyForbidden(id);
      return prisma.$transaction(async (transaction) => {
        await transaction.$queryRaw`SELECT id FROM "Company" WHERE id = ${id} FOR NO KEY UPDATE`;
        const before = await transaction.company.findUnique({ where: { id } });
        if (!before) throw companyForbidden(id);
        const after = await transaction.company.update({
          where: { id },
          data: {
            ...nullable,
            name: name ?? undefined,
            address: address ?? undefined,
            settings: settings === null ? Prisma.DbNull : settings,
            updatedAt: await databaseNow(transaction),
          },
        });
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
