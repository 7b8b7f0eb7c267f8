import type { Quota } from '../../prisma/generated/client/client.ts';
import { upsertRows } from '../database/columns.ts';
import { namedStatement } from '../database/named-statement.ts';
import { familyOf } from './session-columns.ts';
import { mayBeSameVehicle, vehiclesOf } from './vehicle-columns.ts';
import type { RecordedPlate } from './vehicle-identity.ts';

// The SQL statements that read and write quotas, and count the vehicles that use the quotas.

/** The columns of a quota, with their types in PostgreSQL. */
const quotaColumnTypes = {
  id: 'text',
  locationId: 'text',
  referenceId: 'text',
  inside: 'int',
  enforcement: '"QuotaEnforcement"',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
} as const satisfies Record<keyof Quota, string>;

/** The names of the columns of a quota. */
export const quotaColumns = Object.keys(quotaColumnTypes) as (keyof Quota)[];

/**
 * Inserts new quotas, and replaces existing quotas with the same ids. For 1,000 quotas, Prisma would keep the process
 * busy for about 200 ms.
 */
export const writeQuotas = namedStatement('quotas-write', upsertRows('Quota', quotaColumnTypes));

/**
 * For each quota, counts the vehicles inside that use the quota. A quota applies to all vehicles with the same
 * reference, such as an apartment. A whitelist entry counts as at most one vehicle, even if it has several open
 * sessions. The column `ofEntries` contains each id from `$entryIds` whose vehicle uses the quota.
 */
export const usedQuotas = namedStatement(
  'quotas-used',
  `
    SELECT q.n::int, count(DISTINCT inside."entryId")::int AS used,
      coalesce(array_agg(DISTINCT inside."entryId") FILTER (WHERE inside."entryId" = ANY($entryIds::text[])), '{}') AS "ofEntries"
    FROM unnest($locationId::text[], $referenceId::text[]) WITH ORDINALITY AS q("locationId", "referenceId", n)
    LEFT JOIN LATERAL (${vehiclesOf('v."locationId" = q."locationId" AND v."referenceId" = q."referenceId"')}) inside ON true
    GROUP BY q.n`,
);

/** A quota that applies to whitelist entries, and the vehicles that currently use the quota. */
export interface UsedQuota extends Pick<Quota, 'referenceId' | 'inside' | 'enforcement'> {
  entries: QuotaEntry[];
  vehicles: VehicleInside[];
}

/** A whitelist entry to which a quota applies. */
interface QuotaEntry {
  id: string;
  /**
   * The time of the last stored observation that can affect the vehicle of the whitelist entry, in ISO 8601. An
   * observation is an occupancy count with plates, or a parking event whose plate is equal or similar to the entry's
   * plate (`mayBeSameVehicle`). `lastObservedAt` is null in two cases: the gateway has stored no observation of the
   * vehicle since `$observedFrom`, or the caller records only a single parking event.
   */
  lastObservedAt: string | null;
}

/**
 * The data about a vehicle that is inside and uses a quota: its whitelist entry, its open parking session, and the
 * plate of this session. `plate` is null if the caller records only a single parking event.
 */
export interface VehicleInside {
  entryId: string;
  sessionId: string;
  plate: RecordedPlate | null;
}

/**
 * Finds the quotas that apply to given whitelist entries of a location, and the vehicles that currently use each quota.
 * If one whitelist entry has several open parking sessions, the result contains each of these sessions. The result
 * contains only whitelist entries to which a quota applies. `$isBatch` is true if the caller records several parking
 * events.
 */
export const quotasOfEntries = namedStatement(
  'quotas-of-entries',
  `
    SELECT k."referenceId", k.inside, k.enforcement::text AS enforcement, jsonb_agg(jsonb_build_object(
      'id', e.id, 'lastObservedAt', CASE WHEN $isBatch THEN greatest(
        (SELECT max(p."occurredAt") FROM "ParkingEvent" p
         WHERE p."locationId" = e."locationId" AND ${familyOf('p')} = ${familyOf('e')}
           AND p."occurredAt" >= $observedFrom::timestamptz AND ${mayBeSameVehicle('p', 'e')}),
        (SELECT max(o."countedAt") FROM "OccupancyCount" o WHERE o."locationId" = $locationId AND o.kind = 'VEHICLES'
           AND o."countedAt" >= $observedFrom::timestamptz)
      ) END
    )) AS entries, (
      SELECT coalesce(jsonb_agg(jsonb_build_object(
        'entryId', inside."entryId", 'sessionId', inside."sessionId", 'plate', CASE WHEN $isBatch THEN jsonb_build_object(
          'plateType', inside."plateType", 'plateCode', inside."plateCode", 'plateNumber', inside."plateNumber",
          'text', (SELECT p.text FROM "ParkingEvent" p WHERE p.id = inside."sessionId")
        ) END
      )), '[]')
      FROM (${vehiclesOf('v."locationId" = k."locationId" AND v."referenceId" = k."referenceId"')}) inside
    ) AS vehicles
    FROM "WhitelistEntry" e
    JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"
    WHERE e.id = ANY($entryIds::text[]) AND e."locationId" = $locationId
    GROUP BY k.id`,
);
