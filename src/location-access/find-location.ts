import type { Location } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database } from '../database/types.ts';
import { isId } from '../ids.ts';
import { locationsOfQuestions } from './statements.ts';

/** Finds locations that are in the scope of an API key. */
export interface LocationFinder {
  /**
   * Finds the location with the id that a client sent.
   *
   * @throws {ServiceError} `NOT_FOUND` for an unknown location and for a location outside the scope of the API key
   */
  find(key: AuthenticatedKey, id: string): Promise<Location>;
}

/**
 * Creates the `LocationFinder`: the object that finds locations by their ids. When callers look up several locations in
 * one iteration of the event loop, one SQL statement finds all of them.
 */
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
