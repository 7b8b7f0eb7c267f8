import { Prisma } from '../../prisma/generated/client/client.ts';
import { modelColumns } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';

// The SQL statements that read companies and write their settings.

/**
 * The columns that the gateway reads for every company. The gateway does not read the column `settings` for every
 * company, because the settings of some companies are large.
 */
const { settings: _, ...companyColumns } = Prisma.CompanyScalarFieldEnum;

/** Reads companies by their ids. */
export const companiesById = namedStatement(
  'companies-by-id',
  `SELECT ${modelColumns(companyColumns, 'c')} FROM "Company" c WHERE c.id = ANY($ids::text[])`,
);

/**
 * Stores the settings of a company. The settings are stored with hand-written SQL, because Prisma drops the properties
 * `__proto__` and `$type` of a JSON object.
 */
export const writeSettings = namedStatement(
  'company-settings-write',
  'UPDATE "Company" SET settings = $settings::jsonb WHERE id = $id',
);
