import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import {
  type AccessCheck,
  type AccessFacts,
  accessReason,
  checksOf,
  type MatchedEntry,
} from './access-rules.ts';
import { type FittingEntry, nearestFirst, onlyNearest } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import type { RankedText } from '../whitelist/plate-reading.ts';
import { plateDifferences, type PlateDifference, textDifferences } from '../whitelist/similar-plates.ts';

/** A whitelist entry that may match the plate that a camera read. */
export interface AccessCandidate {
  entry: WhitelistEntry;
  differences: PlateDifference[];
  /**
   * The text that matches the whitelist entry: a text that the camera sent, or the camera text with one character
   * replaced by a character that cameras confuse with it. `readAs` is null if the gate sent the type, code and number
   * of the plate instead of a camera text.
   */
  readAs: string | null;
}

/**
 * The maximum number of candidates (whitelist entries whose plate the camera may have misread) in one decision. The
 * number of candidates is limited, because a person must choose one of them.
 */
export const maxCandidates = 27;

/**
 * The decision whether a vehicle may enter, with the whitelist entry on which the decision is based. If the camera may
 * have misread the plate, the decision also lists the whitelist entries with similar plates.
 */
export interface AccessDecision {
  reason: AccessReason;
  entry: WhitelistEntry | null;
  candidates: AccessCandidate[];
  /** The data that the access rules checked for the decision; null if the decision is based on no whitelist entry. */
  facts: AccessFacts | null;
  at: Date;
}

/**
 * The result of the search for the whitelist entry of a vehicle. `matched` is null if no whitelist entry matches, or if
 * a person must choose one of the candidates.
 */
export interface AccessMatch {
  matched: MatchedEntry | null;
  candidates: AccessCandidate[];
}

/** Creates a decision based on the whitelist entry in `facts`. If `facts` is null, the decision refuses the vehicle. */
export const decisionBy = (
  facts: AccessFacts | null,
  at: Date,
  candidates: AccessCandidate[],
): AccessDecision => ({
  reason: accessReason(facts, at),
  entry: facts?.entry ?? null,
  candidates,
  facts,
  at,
});

/**
 * Returns the result of each access rule of a gate decision, so that a person can explain the decision to the driver.
 */
export function accessChecks({ facts, at, candidates }: AccessDecision): AccessCheck[] {
  if (facts) {
    const { referenceId } = facts.entry;
    return [
      { name: 'listed', passed: true, detail: `By an entry of ${referenceId}` },
      ...checksOf(facts, at),
    ];
  }
  const detail =
    candidates.length > 0
      ? `${candidates.length} entries may match: a person must decide`
      : 'The whitelist does not have this plate';
  return [{ name: 'listed', passed: false, detail }];
}

/**
 * Chooses the whitelist entry of a vehicle. The parameter `read` is the plate that the gate sent. The function chooses
 * the whitelist entry that has exactly the given plate. If no whitelist entry has the given plate, but exactly one
 * entry has a similar plate, the function chooses the entry with the similar plate.
 */
export function matchSimilar(read: Plate, found: readonly MatchedEntry[]): AccessMatch {
  const similar = found.map((matched) => ({ matched, differences: plateDifferences(read, matched.entry) }));
  const exact = similar.find(({ differences }) => differences.length === 0);
  if (exact) return { matched: exact.matched, candidates: [] };
  return {
    matched: similar.length === 1 ? similar[0]!.matched : null,
    candidates: similar.map(({ matched: { entry }, differences }) => ({ entry, differences, readAs: null })),
  };
}

/** A whitelist entry that matches a camera reading, with the data that the database returns with this entry. */
export interface FittingMatch extends FittingEntry {
  matched: MatchedEntry;
}

/**
 * Chooses the whitelist entry of a vehicle. The gate did not send the plate of this vehicle, but the text that its
 * camera read (the camera text). The function chooses the whitelist entry with the plate that is most similar to the
 * camera text. If several whitelist entries match the camera text equally well, the function chooses none of them.
 */
export function matchReading(texts: readonly RankedText[], fitting: readonly FittingMatch[]): AccessMatch {
  const nearest = nearestFirst(fitting);
  const only = onlyNearest(texts, nearest);
  const isExact = only && texts[only.place]!.rank === 'TEXT';
  const candidates = (isExact ? [] : nearest).slice(0, maxCandidates).map(({ entry, place }) => {
    const readAs = texts[place]!.text;
    return { entry, differences: textDifferences(texts[0]!.text, readAs, entry), readAs };
  });
  return { matched: only?.matched ?? null, candidates };
}
