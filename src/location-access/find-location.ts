import { type Location, Prisma } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { modelColumns } from '../database/columns.ts';
import { isOfCompanies } from '../database/company-scope.ts';
import { namedStatement } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';

/** Finds several locations in one statement. Each location must be in the scope of the API key that asks for it. */
const locationsOfQuestions = namedStatement(
  'locations-of-questions',
  `
    SELECT q.n::int, ${modelColumns(Prisma.LocationScalarFieldEnum, 'l')}
    FROM unnest($id::text[], $ofCompanies::text[]) WITH ORDINALITY AS q(id, "ofCompanies", n)
    JOIN "Location" l ON l.id = q.id AND ${isOfCompanies('l."companyId"')}`,
);

/** Finds locations that are in the scope of an API key. */
export interface LocationFinder {
  /**
   * Finds a location by an id that a client sent.
   *
   * @throws {ServiceError} `NOT_FOUND` for an unknown location and for a location outside the key's scope
   */
  find(key: AuthenticatedKey, id: string): Promise<Location>;
}

/** Creates the finder of locations. One SQL statement answers all calls in the same iteration of the event loop. */
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
