import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { modelColumns } from '../database/columns.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';

/** Finds one location for each query. A query contains the companies in the scope of its key. */
const locationsOfQuestions = namedStatement(
  'locations-of-questions',
  `
    SELECT q.n::int, ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')}
    FROM unnest($id::text[], $ofCompanies::text[]) WITH ORDINALITY AS q(id, "ofCompanies", n)
    JOIN "Location" l ON l.id = q.id AND ${isOfCompanies('l."companyId"')}`,
);

/** Finds locations in the scope of a key. */
export interface LocationFinder {
  /**
   * Finds a location by an id that a client sent.
   *
   * @throws {ServiceError} `NOT_FOUND` for an unknown location and for a location outside the key's scope
   */
  find(key: AuthenticatedKey, id: string): Promise<Location>;
}

/** Creates the finder of locations. Look-ups in the same turn of the event loop share one statement. */
export function createLocationFinder({ sql }: Pick<Database, 'sql'>): LocationFinder {
  const findInCompanies = createStatementBatch<
    { id: string; ofCompanies: string | null },
    Location & { n: number },
    Location | undefined
  >(sql, {
    statementOf: () => locationsOfQuestions,
    parametersOf: (questions) => ({
      id: questions.map(({ id }) => id),
      ofCompanies: questions.map(({ ofCompanies }) => ofCompanies),
    }),
    answerOf: ([location]) => location,
    keyOf: ({ id, ofCompanies }) => `${id} ${ofCompanies ?? '*'}`,
  });
  return {
    async find(key, id) {
      const found = isId(id)
        ? await findInCompanies({ id, ofCompanies: companiesOfReach(key, id) })
        : undefined;
      return reachable(key, id, found);
    },
  };
}
