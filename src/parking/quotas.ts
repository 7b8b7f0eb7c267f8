import {
  Prisma,
  type PrismaClient,
  type Quota,
  type QuotaEnforcement,
} from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { Author, AuthenticatedKey } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database, Sql, Transaction } from '../database/types.ts';
import { newId } from '../ids.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import { lockLocation } from '../location-access/lock.ts';
import type { LocationFinder } from '../location-access/find-location.ts';
import type { Slots } from '../scheduling/slots.ts';
import type { PagedList } from '../paging.ts';
import { vehiclesOf } from './vehicle-inside.ts';

// A quota is the maximum number of vehicles of a reference, such as a parking unit, that may be inside a location at
// the same time.

/** The maximum number of quotas in one request. */
export const maxQuotasPerCall = 1_000;

/** The quota that a client sets for a reference. If `inside` is null, the existing quota is removed. */
export interface QuotaValues {
  referenceId: string;
  inside: number | null;
  enforcement: QuotaEnforcement;
}

/** SQL for the number of vehicles of a reference that are inside. Each whitelist entry counts as one vehicle. */
export const vehiclesInside = (
  { locationId, referenceId }: { locationId: string; referenceId: string },
  otherThan = 'true',
) => `(
  SELECT count(DISTINCT inside."entryId")::int
  FROM (${vehiclesOf(`v."locationId" = ${locationId} AND v."referenceId" = ${referenceId} AND ${otherThan}`)}) inside)`;

const usedQuotas = namedStatement(
  'quotas-used',
  `
    SELECT q.n::int, ${vehiclesInside({ locationId: 'q."locationId"', referenceId: 'q."referenceId"' })} AS used
    FROM unnest($locationId::text[], $referenceId::text[]) WITH ORDINALITY AS q("locationId", "referenceId", n)`,
);

/** The quota for the reference of a whitelist entry, and the vehicles of the reference that are inside. */
export interface EntryQuota extends Pick<Quota, 'referenceId' | 'inside' | 'enforcement'> {
  entryId: string;
  /** The session ids of the vehicles inside. The keys are the ids of their whitelist entries. */
  sessions: Record<string, string>;
}

const quotasOfEntries = namedStatement(
  'quotas-of-entries',
  `
    SELECT e.id AS "entryId", k."referenceId", k.inside, k.enforcement::text AS enforcement, (
      SELECT coalesce(jsonb_object_agg(inside."entryId", inside."sessionId"), '{}')
      FROM (${vehiclesOf('v."locationId" = k."locationId" AND v."referenceId" = k."referenceId"')}) inside
    ) AS sessions
    FROM "WhitelistEntry" e
    JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"
    WHERE e.id = ANY($entryIds::text[]) AND e."locationId" = $locationId`,
);

/**
 * Finds the current quotas for the references of whitelist entries at a location. Entries without a quota are omitted.
 */
export const findQuotasOfEntries = (
  transaction: Transaction,
  locationId: string,
  entryIds: readonly string[],
): Promise<EntryQuota[]> => queryInTransaction(transaction, quotasOfEntries, { locationId, entryIds });

/** The functions that read and write the quotas of one database. */
export type Quotas = ReturnType<typeof createQuotas>;

/** Creates the functions that read and write quotas. */
export function createQuotas(services: {
  prisma: PrismaClient;
  sql: Sql;
  kind: Database['kind'];
  locations: LocationFinder;
  locationSlots: Slots;
}) {
  const { prisma, sql, kind, locations, locationSlots } = services;
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
     * Lists the quotas of a location. Reading a page throws `NOT_FOUND` for a location outside the key's scope.
     *
     * @param referenceId returns only the quota of this reference; when omitted, all quotas are returned
     */
    of: (key: AuthenticatedKey, locationId: string, referenceId?: string): PagedList<Quota> =>
      listOfLocation(quotas, key, { ownerId: locationId, referenceId }),

    /** The number of vehicles of a quota's reference that are inside now. */
    used: findUsed,

    /**
     * Sets several quotas of a location, all or none, and writes one audit record. The call waits for earlier changes
     * of the location, so that each event is counted by either the old quota or the new quota.
     *
     * @param values one value for each reference; if `inside` is null, the quota is removed
     * @returns the new quota for each value, in the same order. For a removed quota, the result is its last state, or
     *   null if there was no quota.
     * @throws {ServiceError} `NOT_FOUND` for a location outside the key's scope, `RATE_LIMIT_EXCEEDED` when too many
     *   changes of the location are waiting
     */
    async set(author: Author, locationId: string, values: readonly QuotaValues[]): Promise<(Quota | null)[]> {
      await locations.find(author.key, locationId);
      const referenceIds = values.map(({ referenceId }) => referenceId);
      return locationSlots.run(locationId, () =>
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
                before: before.filter(({ id }) => replaced.includes(id)).map(auditedQuota),
                after: written.map((quota) => auditedQuota(quota!)),
              },
            });
          }
          return after.map((quota, index) => quota ?? earlier.get(referenceIds[index]!) ?? null);
        }),
      );
    },
  };
}

/** Returns the form of a quota for audit records. */
const auditedQuota = ({ referenceId, inside, enforcement }: Quota) => ({ referenceId, inside, enforcement });
