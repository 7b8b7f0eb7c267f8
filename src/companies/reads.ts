import type { Company, PrismaClient } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companyScope, reachesCompany } from '../auth/scope.ts';
import { createLargeValues } from '../database/large-values.ts';
import { prismaList } from '../database/prisma-list.ts';
import { createRowById } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { companyForbidden, valuesTooLarge } from '../errors/error-table.ts';
import { isId } from '../ids.ts';
import type { PagedList } from '../paging.ts';
import { companiesById } from './statements.ts';

/** A company without its settings. */
export type ReadCompany = Omit<Company, 'settings'>;

/** The functions that read companies from one database. */
export type CompanyReads = ReturnType<typeof createCompanyReads>;

/**
 * Creates the functions that read companies. One SQL statement finds all companies that are looked up by id in the same
 * iteration of the event loop.
 */
export function createCompanyReads(services: {
  prisma: PrismaClient;
  sql: Sql;
  isBoundedJson: (text: string) => boolean;
}) {
  const { prisma, sql, isBoundedJson: isBounded } = services;
  const byId = createRowById<ReadCompany>(sql, companiesById);

  return {
    /** Reads the settings of the company with a given id (src/database/large-values.ts). */
    settingsOf: createLargeValues(sql, 'Company', 'settings', {
      isBounded,
      tooLarge: valuesTooLarge('settings'),
    }),

    /** Returns the companies that an API key may see. */
    visibleTo(key: AuthenticatedKey): PagedList<ReadCompany> {
      return prismaList(
        {
          findMany: (query) => prisma.company.findMany({ ...query, omit: { settings: true } }),
          count: (query) => prisma.company.count(query),
        },
        companyScope(key),
      );
    },

    /**
     * Finds a company by the id that a client sent.
     *
     * @throws {ServiceError} `FORBIDDEN` for an unknown company and for a company outside the scope of the API key
     */
    async find(key: AuthenticatedKey, id: string): Promise<ReadCompany> {
      const company = isId(id) && reachesCompany(key, id) ? await byId(id) : undefined;
      if (!company) throw companyForbidden(id);
      return company;
    },

    /** Returns the company that owns a given location. */
    async ownerOf({ companyId }: { companyId: string }): Promise<ReadCompany> {
      const company = await byId(companyId);
      if (!company) throw companyForbidden(companyId);
      return company;
    },
  };
}
