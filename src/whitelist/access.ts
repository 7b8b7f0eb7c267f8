import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Plate } from './plate.ts';
import { plateDifferences, type PlateDifference } from './similar-plates.ts';

/** An entry whose plate a camera may have misread. */
export interface AccessCandidate {
  entry: WhitelistEntry;
  differences: PlateDifference[];
}

/** Whether a vehicle may enter, by which entry; candidates when a camera may have misread the plate. */
export interface AccessDecision {
  reason: AccessReason;
  entry: WhitelistEntry | null;
  candidates: AccessCandidate[];
}

/** Whether an entry lets its vehicle in at a time: from `validFrom` on, and before `validUntil`. */
export function accessReason(entry: WhitelistEntry | null | undefined, at: Date): AccessReason {
  if (!entry) return 'NOT_LISTED';
  if (entry.validFrom && at < entry.validFrom) return 'NOT_YET_VALID';
  if (entry.validUntil && at >= entry.validUntil) return 'EXPIRED';
  return 'LISTED';
}

/** The condition that an entry lets its vehicle in at a time: what `accessReason` calls `LISTED`, as SQL. */
export const isValidAt = (entry: string, at: string) =>
  `(${entry}."validFrom" IS NULL OR ${entry}."validFrom" <= ${at}) AND (${entry}."validUntil" IS NULL OR ${entry}."validUntil" > ${at})`;

/** Decides by the entry whose plate is the one that was read, or else by the only one that is similar. */
export function decideSimilar(read: Plate, entries: WhitelistEntry[], at: Date): AccessDecision {
  const similar = entries.map((entry) => ({ entry, differences: plateDifferences(read, entry) }));
  const exact = similar.find(({ differences }) => differences.length === 0);
  const candidates = exact ? [] : similar;
  const { entry } = exact ?? (similar.length === 1 ? similar[0]! : { entry: null });
  return { reason: accessReason(entry, at), entry, candidates };
}
