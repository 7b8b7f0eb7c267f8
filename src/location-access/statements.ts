import { Prisma } from '../../prisma/generated/client/client.ts';
import { scopeCondition } from '../auth/scope.ts';
import { modelColumns } from '../database/columns.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { namedStatement } from '../database/named-statement.ts';

// The SQL statements that find and lock locations in the scope of an API key.

/**
 * Finds locations by their ids, for several requests at once. A request finds a location only if the company of the
 * location is in the list `ofCompanies` of the request.
 */
export const locationsOfQuestions = namedStatement(
  'locations-of-questions',
  `
    SELECT q.n::int, ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')}
    FROM unnest($id::text[], $ofCompanies::text[]) WITH ORDINALITY AS q(id, "ofCompanies", n)
    JOIN "Location" l ON l.id = q.id AND ${isOfCompanies('l."companyId"')}`,
);

/**
 * Reads a location in the scope of an API key, and locks the location until the transaction ends. Two transactions
 * therefore cannot change the same location at the same time. The statement uses `FOR NO KEY UPDATE` instead of `FOR
 * UPDATE`, so that other transactions can still insert rows with a foreign key to the locked location. The SQL
 * parameters are `locationId` and the values that the function `scopeParameters` returns.
 */
export const lockedLocation = `
  SELECT ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')} FROM "Location" l
  WHERE l.id = $locationId AND ${scopeCondition('l')} FOR NO KEY UPDATE`;

/** Reads a location in the scope of an API key, and locks the location until the transaction ends. */
export const lockStatement = namedStatement('location-lock', lockedLocation);
