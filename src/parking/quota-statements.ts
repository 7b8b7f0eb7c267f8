import type { Quota } from '../../prisma/generated/client/client.ts';
import { namedStatement } from '../database/named-statement.ts';
import { familyOf } from './session-columns.ts';
import { vehiclesInside, vehiclesOf } from './vehicle-columns.ts';

// The SQL statements that read quotas and count the vehicles that use the quotas.

/**
 * Counts the vehicles inside that use each quota. A quota applies to all vehicles with the same reference, such as an
 * apartment.
 */
export const usedQuotas = namedStatement(
  'quotas-used',
  `
    SELECT q.n::int, ${vehiclesInside({ locationId: 'q."locationId"', referenceId: 'q."referenceId"' })} AS used
    FROM unnest($locationId::text[], $referenceId::text[]) WITH ORDINALITY AS q("locationId", "referenceId", n)`,
);

/** The quota that applies to a whitelist entry, and the vehicles that currently use the quota. */
export interface EntryQuota extends Pick<Quota, 'referenceId' | 'inside' | 'enforcement'> {
  entryId: string;
  /** For each vehicle inside that uses the quota: the id of its whitelist entry, and the id of its open session. */
  sessions: Record<string, string>;
  /**
   * The time of the last stored observation that can affect the vehicle of the whitelist entry. An observation is a
   * parking event with a plate of the same family (`familyOf`), or an occupancy count with plates. `lastObservedAt` is
   * null if the gateway has stored no such observation, or if the caller counts only a single event.
   */
  lastObservedAt: Date | null;
}

/** Finds the quotas that apply to whitelist entries of a location, and the vehicles that currently use each quota. */
export const quotasOfEntries = namedStatement(
  'quotas-of-entries',
  `
    SELECT e.id AS "entryId", k."referenceId", k.inside, k.enforcement::text AS enforcement, (
      SELECT coalesce(jsonb_object_agg(inside."entryId", inside."sessionId"), '{}')
      FROM (${vehiclesOf('v."locationId" = k."locationId" AND v."referenceId" = k."referenceId"')}) inside
    ) AS sessions, CASE WHEN $isBatch THEN greatest(
      (SELECT max(p."occurredAt") FROM "ParkingEvent" p
       WHERE p."locationId" = e."locationId" AND ${familyOf('p')} = ${familyOf('e')}),
      (SELECT max(o."countedAt") FROM "OccupancyCount" o WHERE o."locationId" = $locationId AND o.kind = 'VEHICLES')
    ) END AS "lastObservedAt"
    FROM "WhitelistEntry" e
    JOIN "Quota" k ON k."locationId" = e."locationId" AND k."referenceId" = e."referenceId"
    WHERE e.id = ANY($entryIds::text[]) AND e."locationId" = $locationId`,
);
