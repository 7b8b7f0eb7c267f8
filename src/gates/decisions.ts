import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Sql } from '../database/types.ts';
import { isId } from '../ids.ts';
import { type PlateInput, textArrays } from '../whitelist/matching.ts';
import { type Plate, plateArrays } from '../whitelist/plate.ts';
import { textsOfReading } from '../whitelist/plate-reading.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';
import {
  type AccessDecision,
  type AccessMatch,
  decisionBy,
  matchReading,
  matchSimilar,
} from './access-decision.ts';
import { createQuotaUse } from './quota-use.ts';
import {
  entriesOfSimilarPlates,
  entriesOfTexts,
  entryOfPlate,
  fittingIn,
  foundIn,
  locationArrays,
  type LocatedTextQuestion,
  type LocationAndEntry,
  type LocationAndFittingEntry,
  type PlateQuestion,
} from './statements.ts';

/** The functions that make gate decisions with the data of one database. */
export type AccessDecisions = ReturnType<typeof createAccessDecisions>;

/**
 * Creates the functions that make gate decisions. When one of these functions is called several times in the same
 * iteration of the event loop, one SQL statement answers all these calls. If the reference of a vehicle has a quota and
 * many whitelist entries, a second SQL statement counts the vehicles that use the quota.
 */
export function createAccessDecisions({ sql }: { sql: Sql }) {
  const findPlate = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entryOfPlate,
    parametersOf: (questions) => ({ ...locationArrays(questions), ...plateArrays(questions) }),
    answerOf: foundIn,
  });

  const findSimilar = createStatementBatch<PlateQuestion, LocationAndEntry, ReturnType<typeof foundIn>>(sql, {
    statementOf: () => entriesOfSimilarPlates,
    parametersOf: (questions) => {
      const plates = questions.flatMap((question, index) =>
        similarPlates(question).map((plate, position) => ({ ...plate, n: index + 1, exact: position === 0 })),
      );
      return {
        ...locationArrays(questions),
        n: plates.map(({ n }) => n),
        exact: plates.map(({ exact }) => exact),
        ...plateArrays(plates),
      };
    },
    answerOf: foundIn,
  });

  const findTexts = createStatementBatch<
    LocatedTextQuestion,
    LocationAndFittingEntry,
    ReturnType<typeof fittingIn>
  >(sql, {
    statementOf: () => entriesOfTexts,
    parametersOf: (questions) => ({ ...locationArrays(questions), ...textArrays(questions) }),
    answerOf: fittingIn,
  });

  const findQuotaUse = createQuotaUse(sql);

  /**
   * Finds the whitelist entry that matches a vehicle.
   *
   * @throws {ServiceError} `NOT_FOUND` for a location outside the scope of the API key
   */
  async function findMatch(
    key: AuthenticatedKey,
    locationId: string,
    { plate, reading }: PlateInput,
    similar: boolean,
  ): Promise<AccessMatch> {
    const ofCompanies = companiesOfReach(key, locationId);
    if (reading) {
      const texts = textsOfReading(reading, similar);
      const question = { locationId, ofCompanies, plateType: reading.plateType ?? null, texts };
      const found = isId(locationId) ? await findTexts(question) : undefined;
      return matchReading(texts, reachable(key, locationId, found).fitting);
    }
    const find = similar ? findSimilar : findPlate;
    const found = isId(locationId) ? await find({ locationId, ofCompanies, ...plate }) : undefined;
    const matching = reachable(key, locationId, found).found;
    return similar ? matchSimilar(plate, matching) : { matched: matching[0] ?? null, candidates: [] };
  }

  return {
    /**
     * Decides whether a vehicle may enter a location at a given time.
     *
     * @param similar whether whitelist entries with a similar plate also match. A similar plate differs from the given
     *   plate in one character that cameras often misread
     * @throws {ServiceError} `NOT_FOUND` for a location outside the scope of the API key
     */
    async decideAccess(
      key: AuthenticatedKey,
      locationId: string,
      vehicle: PlateInput,
      { at, similar }: { at: Date; similar: boolean },
    ): Promise<AccessDecision> {
      const { matched, candidates } = await findMatch(key, locationId, vehicle, similar);
      const quotaUsed = matched?.quota ? (matched.quotaUsed ?? (await findQuotaUse(key, matched.entry))) : 0;
      return decisionBy(matched && { ...matched, quotaUsed }, at, candidates);
    },

    /**
     * Returns the whitelist entry of a plate, or null if the plate is not on the whitelist. `entryOfPlate` does not
     * check the scope of an API key.
     */
    async entryOfPlate(locationId: string, plate: Plate): Promise<WhitelistEntry | null> {
      return (await findPlate({ locationId, ofCompanies: null, ...plate }))?.found[0]?.entry ?? null;
    },
  };
}
