import {
  Prisma,
  type PrismaClient,
  type Quota,
  type QuotaEnforcement,
} from '../../prisma/generated/client/client.ts';
import { recordChange } from '../audit/record.ts';
import type { AuthenticatedKey, WaitingAuthor } from '../auth/key.ts';
import { databaseNow } from '../database/clock.ts';
import { columnArrays } from '../database/columns.ts';
import { createKeysetList } from '../database/keyset-list.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { createStatementBatch } from '../database/statement-batch.ts';
import type { Database, Sql } from '../database/types.ts';
import { newId } from '../ids.ts';
import { listOfLocation } from '../location-access/list-of-location.ts';
import { lockLocation } from '../location-access/lock.ts';
import type { LocationFinder } from '../location-access/find-location.ts';
import type { LocationSlots } from '../location-access/location-slots.ts';
import type { PagedList } from '../paging.ts';
import { quotaColumns, usedQuotas, writeQuotas } from './quota-statements.ts';

// A quota is the maximum number of vehicles with the same reference, such as a parking unit, that may be inside a
// location at the same time.

/** The maximum number of quotas in one request. */
export const maxQuotasPerCall = 1_000;

/**
 * The quota that a client sets for all whitelist entries with the same reference. If `inside` is null, the existing
 * quota of the reference is removed.
 */
export interface QuotaValues {
  referenceId: string;
  inside: number | null;
  enforcement: QuotaEnforcement;
}

/** The functions that read and write the quotas in the database. */
export type Quotas = ReturnType<typeof createQuotas>;

/** Creates the functions that read and write quotas. */
export function createQuotas(services: {
  prisma: PrismaClient;
  sql: Sql;
  kind: Database['kind'];
  locations: LocationFinder;
  locationSlots: LocationSlots;
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
      entryIds: [],
    }),
    answerOf: ([row]) => row?.used ?? 0,
  });

  return {
    /**
     * Lists the quotas of a location. If the location is outside the API key's scope, the caller gets the error
     * `NOT_FOUND` when it reads a page of the list.
     *
     * @param referenceId the reference whose quota is listed; if `referenceId` is omitted, the function lists all
     *   quotas of the location
     */
    of: (key: AuthenticatedKey, locationId: string, referenceId?: string): PagedList<Quota> =>
      listOfLocation(quotas, key, { ownerId: locationId, referenceId }),

    /**
     * For the reference of a quota (such as an apartment), counts the vehicles with this reference that are inside now.
     */
    used: findUsed,

    /**
     * Sets several quotas of a location in one transaction, and writes one audit record. While the method `set` changes
     * the quotas of a location, the gateway records no parking events of this location. The gateway therefore never
     * checks a parking event against a mixture of old and new quotas.
     *
     * @param values the quotas to set, one for each reference; if `inside` is null, the quota of the reference is
     *   removed
     * @returns one result for each item of `values`, in the order of `values`. Each result is the new quota. If
     *   `inside` is null, the result is the quota that was removed. If the quota to remove does not exist, the result
     *   is null
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many changes of the location are waiting, or when earlier
     *   changes take too long
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the change waited for
     *   earlier changes
     */
    async set(
      author: WaitingAuthor,
      locationId: string,
      values: readonly QuotaValues[],
    ): Promise<(Quota | null)[]> {
      await locations.find(author.key, locationId);
      const referenceIds = values.map(({ referenceId }) => referenceId);
      return locationSlots.run(author, locationId, () =>
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
          const written = after
            .filter((quota) => quota !== null)
            .filter((quota) => quota !== earlier.get(quota.referenceId));
          const removed = values.flatMap(({ referenceId, inside }) =>
            inside === null ? (earlier.get(referenceId) ?? []) : [],
          );
          const changed = [...written, ...removed].map(({ id }) => id);
          if (changed.length > 0) {
            const removedIds = removed.map(({ id }) => id);
            await transaction.quota.deleteMany({ where: { locationId, id: { in: removedIds } } });
            await queryInTransaction(transaction, writeQuotas, columnArrays(quotaColumns, written));
            await recordChange(transaction, author, {
              action: 'quota.set',
              targetId: locationId,
              companyId: location.companyId,
              locationId,
              changes: {
                before: before.filter(({ id }) => changed.includes(id)).map(auditedQuota),
                after: written.map(auditedQuota),
              },
            });
          }
          return after.map((quota, index) => quota ?? earlier.get(referenceIds[index]!) ?? null);
        }),
      );
    },
  };
}

/** Returns the fields of a quota that the audit log stores. */
const auditedQuota = ({ referenceId, inside, enforcement }: Quota) => ({ referenceId, inside, enforcement });
