import { type Company, Prisma, type PrismaClient } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companyScope, reachesCompany } from '../auth/scope.ts';
import { columnList } from '../database/columns.ts';
import { createLargeValues } from '../database/large-values.ts';
import { namedStatement } from '../database/named-statement.ts';
import { prismaList } from '../database/prisma-list.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { companyForbidden, valuesTooLarge } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { PagedList } from '../pages.ts';

/** The columns that every company is read with: `settings` of companies that were registered long ago can be large. */
const companyColumns = {
  id: true,
  name: true,
  slug: true,
  address: true,
  externalCompanyId: true,
  description: true,
  phone: true,
  email: true,
  website: true,
  logo: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.CompanySelect;

/** A company as it is read. */
export type ReadCompany = Pick<Company, keyof typeof companyColumns>;

const companiesById = namedStatement(
  'companies-by-id',
  `SELECT ${columnList(Object.keys(companyColumns), (quoted) => `c.${quoted}`)} FROM "Company" c WHERE c.id = ANY($ids::text[])`,
);

/** The reads of companies over one database. */
export type CompanyReads = ReturnType<typeof createCompanyReads>;

/** Prepares the reads of companies. Look-ups by id of one turn of the event loop are joined. */
export function createCompanyReads(services: {
  prisma: PrismaClient;
  sql: Sql;
  isBoundedJson: (text: string) => boolean;
}) {
  const { prisma, sql, isBoundedJson: isBounded } = services;
  const byId = createRowById<ReadCompany>(sql, companiesById);

  return {
    /** The settings of a company, by its id (see large-values.ts). */
    settingsOf: createLargeValues(sql, 'Company', 'settings', {
      isBounded,
      tooLarge: valuesTooLarge('settings'),
    }),

    /** The companies that a key may see. */
    visibleTo(key: AuthenticatedKey): PagedList<ReadCompany> {
      return prismaList(
        {
          findMany: (query) => prisma.company.findMany({ ...query, select: companyColumns }),
          count: (query) => prisma.company.count(query),
        },
        companyScope(key),
      );
    },

    /**
     * The company of an id that a client sent.
     *
     * @throws {ServiceError} `FORBIDDEN` for an unknown company and for one that the key may not see
     */
    async find(key: AuthenticatedKey, id: string): Promise<ReadCompany> {
      const company = isId(id) && reachesCompany(key, id) ? await byId(id) : undefined;
      if (!company) throw companyForbidden(id);
      return company;
    },

    /** The company that owns a location. */
    async ownerOf({ companyId }: { companyId: string }): Promise<ReadCompany> {
      const company = await byId(companyId);
      if (!company) throw companyForbidden(companyId);
      return company;
    },
  };
}
