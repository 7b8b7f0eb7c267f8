import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { type AccessCheck, type AccessFacts, accessReason, checksOf } from './access-rules.ts';
import { type FittingEntry, nearestFirst, onlyNearest } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import type { RankedText } from '../whitelist/plate-reading.ts';
import { plateDifferences, type PlateDifference, textDifferences } from '../whitelist/similar-plates.ts';

/** A whitelist entry whose plate may be the plate that a camera read. */
export interface AccessCandidate {
  entry: WhitelistEntry;
  differences: PlateDifference[];
  /** The possible text of the plate that matches the entry; null when the gate sent the parts of the plate. */
  readAs: string | null;
}

/** The maximum number of candidates that a decision lists. A person cannot choose among more candidates. */
export const maxCandidates = 27;

/**
 * Whether a vehicle may enter, and which whitelist entry decided. If the camera may have misread the plate, the
 * decision also lists the candidates.
 */
export interface AccessDecision {
  reason: AccessReason;
  entry: WhitelistEntry | null;
  candidates: AccessCandidate[];
  /** The data that the rules of the decision used; null when no whitelist entry was found. */
  facts: AccessFacts | null;
  at: Date;
}

/** Creates a decision from the whitelist entry that was found, or for a vehicle without an entry. */
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

/** Returns the result of each rule of a decision, so that a person at the intercom can tell the driver the reason. */
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
 * Decides with the whitelist entry that has exactly this plate. If there is none, the only entry with a similar plate
 * decides.
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

/** A whitelist entry that matches a text that a camera may have read, with the data for the rules. */
export interface FittingFacts extends FittingEntry {
  facts: AccessFacts;
}

/**
 * Decides with the whitelist entry that best matches the text that a camera read. If several entries match equally
 * well, the vehicle may not enter.
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
