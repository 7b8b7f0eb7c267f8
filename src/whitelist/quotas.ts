import {
  Prisma,
  type PrismaClient,
  type Quota,
  type QuotaEnforcement,
} from '../../prisma/generated/client/client.ts';
import { recordChange, type Transaction } from '../audit/record.ts';
import type { Author, AuthenticatedKey } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database, Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { listOfLocation } from '../locations/list-of-location.ts';
import { lockLocation } from '../locations/lock.ts';
import type { LocationReads } from '../locations/reads.ts';
import type { Turns } from '../locations/turns.ts';
import type { PagedList } from '../pages.ts';

// How many vehicles of a reference, such as a unit, may be inside a location at a time.

/** The most quotas that one call sets. */
export const maxQuotasPerCall = 1_000;

/** What a client sets for a reference: null takes the quota away. */
export interface QuotaValues {
  referenceId: string;
  inside: number | null;
  enforcement: QuotaEnforcement;
}

/** The condition that a vehicle of an entry is inside, as SQL. */
const isVehicleInside = (entry: string) => `EXISTS (
  SELECT FROM "ParkingSession" s
  WHERE s."whitelistEntryId" = ${entry}.id AND s.open AND (s."staysUntil" IS NULL OR s."staysUntil" > now())
    AND s."locationId" = ${entry}."locationId")`;

/** How many vehicles of a reference are inside, as SQL; a vehicle is an entry of the whitelist. */
export const vehiclesInside = (
  { locationId, referenceId }: { locationId: string; referenceId: string },
  otherThan = 'true',
) => `(
  SELECT count(*)::int FROM "WhitelistEntry" v
  WHERE v."locationId" = ${locationId} AND v."referenceId" = ${referenceId} AND ${otherThan} AND ${isVehicleInside('v')})`;

const usedQuotas = namedStatement(
  'quotas-used',
  `
    SELECT q.n::int, ${vehiclesInside({ locationId: 'q."locationId"', referenceId: 'q."referenceId"' })} AS used
    FROM unnest($locationId::text[], $referenceId::text[]) WITH ORDINALITY AS q("locationId", "referenceId", n)`,
);

/** The quota of an entry's reference, and whose vehicles of it are inside. */
export interface EntryQuota extends Pick<Quota, 'referenceId' | 'inside' | 'enforcement'> {
  entryId: string;
  insideIds: string[];
}

const quotasOfEntries = namedStatement(
  'quotas-of-entries',
  `
    SELECT e.id AS "entryId", k."referenceId", k.inside, k.enforcement::text AS enforcement, ARRAY(
      SELECT v.id FROM "WhitelistEntry" v
      WHERE v."locationId" = k."locationId" AND v."referenceId" = k."referenceId" AND ${isVehicleInside('v')}
    ) AS "insideIds"
    FROM "WhitelistEntry" e
    JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"
    WHERE e.id = ANY($entryIds::text[]) AND e."locationId" = $locationId`,
);

/** The quotas that entries of a location belong to, as they are used now. Entries without one are left out. */
export const findQuotasOfEntries = (
  transaction: Transaction,
  locationId: string,
  entryIds: readonly string[],
): Promise<EntryQuota[]> => queryInTransaction(transaction, quotasOfEntries, { locationId, entryIds });

/** The quotas of one database. */
export type Quotas = ReturnType<typeof createQuotas>;

/** Prepares reads and changes of quotas. */
export function createQuotas(services: {
  prisma: PrismaClient;
  sql: Sql;
  kind: Database['kind'];
  locations: Pick<LocationReads, 'find'>;
  locationTurns: Turns;
}) {
  const { prisma, sql, kind, locations, locationTurns } = services;
  const quotas = createKeysetList<Quota, { ownerId: string; referenceId?: string | undefined }>(sql, {
    kind,
    table: 'Quota',
    fields: Prisma.QuotaScalarFieldEnum,
    owner: { table: 'Location', column: 'locationId' },
    filters: { referenceId: 'text' },
  });
  const findUsed = createStatementBatch<
    Pick<Quota, 'locationId' | 'referenceId'>,
    { n: number; used: number },
    number
  >(sql, {
    statementOf: () => usedQuotas,
    parametersOf: (asked) => ({
      locationId: asked.map(({ locationId }) => locationId),
      referenceId: asked.map(({ referenceId }) => referenceId),
    }),
    answerOf: ([row]) => row?.used ?? 0,
  });

  return {
    /**
     * The quotas of a location. Its pages are `NOT_FOUND` for a location out of reach.
     *
     * @param referenceId only that of this reference; all when left out
     */
    of: (key: AuthenticatedKey, locationId: string, referenceId?: string): PagedList<Quota> =>
      listOfLocation(quotas, key, { ownerId: locationId, referenceId }),

    /** How many vehicles of the reference are inside now. */
    used: findUsed,

    /**
     * Sets quotas of a location, all or none, with one audit record. Waits for its turn among the changes of the
     * location, so that each event is counted by the quota before or by the one after.
     *
     * @param values one for each reference; `inside` null takes its quota away
     * @returns for each, in their order, the quota as it is, or as it was before it was taken away; null where there was
     *   none to take away
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `RATE_LIMIT_EXCEEDED` when too many changes of the
     *   location are waiting
     */
    async set(author: Author, locationId: string, values: readonly QuotaValues[]): Promise<(Quota | null)[]> {
      await locations.find(author.key, locationId);
      const referenceIds = values.map(({ referenceId }) => referenceId);
      return locationTurns.run(locationId, () =>
        prisma.$transaction(async (transaction) => {
          const location = await lockLocation(transaction, locationId, author.key);
          const where = { locationId, referenceId: { in: referenceIds } };
          const before = await transaction.quota.findMany({ where, orderBy: { id: 'asc' } });
          const earlier = new Map(before.map((quota) => [quota.referenceId, quota]));
          const now = await databaseNow(transaction);
          const after = values.map(({ referenceId, inside, enforcement }): Quota | null => {
            const known = earlier.get(referenceId);
            if (inside === null) return null;
            if (known?.inside === inside && known.enforcement === enforcement) return known;
            return {
              id: known?.id ?? newId(),
              ...{ locationId, referenceId, inside, enforcement },
              createdAt: known?.createdAt ?? now,
              updatedAt: now,
            };
          });
          const written = after.filter((quota) => quota !== null && quota !== earlier.get(quota.referenceId));
          const removed = values.flatMap(({ referenceId, inside }) =>
            inside === null ? (earlier.get(referenceId) ?? []) : [],
          );
          const replaced = [...written.map((quota) => quota!.id), ...removed.map(({ id }) => id)];
          if (replaced.length > 0) {
            await transaction.quota.deleteMany({ where: { locationId, id: { in: replaced } } });
            await transaction.quota.createMany({ data: written.map((quota) => quota!) });
            await recordChange(transaction, author, {
              action: 'quota.set',
              targetId: locationId,
              companyId: location.companyId,
              locationId,
              changes: {
                before: before.filter(({ id }) => replaced.includes(id)).map(shown),
                after: written.map((quota) => shown(quota!)),
              },
            });
          }
          return after.map((quota, index) => quota ?? earlier.get(referenceIds[index]!) ?? null);
        }),
      );
    },
  };
}

/** A quota in an audit record. */
const shown = ({ referenceId, inside, enforcement }: Quota) => ({ referenceId, inside, enforcement });
