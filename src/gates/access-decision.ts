import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { type AccessCheck, type AccessFacts, accessReason, checksOf } from './access-rules.ts';
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

/** Creates a decision based on the whitelist entry in `facts`. If `facts` is null, the decision refuses the vehicle. */
export const decisionBy = (
  facts: AccessFacts | null,
  at: Date,
  candidates: AccessCandidate[] = [],
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
 * Decides whether a vehicle may enter. The parameter `read` is the plate that the gate sent. The decision uses the
 * whitelist entry that has exactly the given plate. If no whitelist entry has the given plate, but exactly one entry
 * has a similar plate, the decision uses the entry with the similar plate.
 */
export function decideSimilar(read: Plate, found: readonly AccessFacts[], at: Date): AccessDecision {
  const similar = found.map((facts) => ({ facts, differences: plateDifferences(read, facts.entry) }));
  const exact = similar.find(({ differences }) => differences.length === 0);
  if (exact) return decisionBy(exact.facts, at);
  return decisionBy(
    similar.length === 1 ? similar[0]!.facts : null,
    at,
    similar.map(({ facts: { entry }, differences }) => ({ entry, differences, readAs: null })),
  );
}

/** A whitelist entry that matches a camera reading, with the data for the access rules. */
export interface FittingFacts extends FittingEntry {
  facts: AccessFacts;
}

/**
 * Decides whether a vehicle may enter. The gate did not send the plate of this vehicle, but the text that its camera
 * read (the camera text). The decision uses the whitelist entry with the plate that is most similar to the camera text.
 * The vehicle may not enter if several whitelist entries match the camera text equally well.
 */
export function decideReading(
  texts: readonly RankedText[],
  fitting: readonly FittingFacts[],
  at: Date,
): AccessDecision {
  const nearest = nearestFirst(fitting);
  const only = onlyNearest(texts, nearest);
  const isExact = only && texts[only.place]!.rank === 'TEXT';
  const candidates = (isExact ? [] : nearest).slice(0, maxCandidates).map(({ entry, place }) => {
    const readAs = texts[place]!.text;
    return { entry, differences: textDifferences(texts[0]!.text, readAs, entry), readAs };
  });
  return decisionBy(only?.facts ?? null, at, candidates);
}
