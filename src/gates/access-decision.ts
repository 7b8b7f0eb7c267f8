import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { type AccessCheck, type AccessFacts, accessReason, checksOf } from './access-rules.ts';
import type { Plate } from '../whitelist/plate.ts';
import type { RankedText } from '../whitelist/plate-reading.ts';
import { plateDifferences, type PlateDifference, textDifferences } from '../whitelist/similar-plates.ts';

/** An entry that may belong to the plate that a camera read. */
export interface AccessCandidate {
  entry: WhitelistEntry;
  differences: PlateDifference[];
  /** The text of the reading that matches the entry; null when the gate sent a plate in its parts. */
  readAs: string | null;
}

/** The maximum number of candidates of a decision. A person cannot choose among more. */
export const maxCandidates = 27;

/** Whether a vehicle may enter, and by which entry. It has candidates when the camera may have misread the plate. */
export interface AccessDecision {
  reason: AccessReason;
  entry: WhitelistEntry | null;
  candidates: AccessCandidate[];
  /** The data that the rules checked; null without an entry. */
  facts: AccessFacts | null;
  at: Date;
}

/** A decision for the entry that was found; null when none was found. */
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

/** The result of every rule of a decision, so that a person can tell the driver the reason. */
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

/** Decides by the entry with exactly this plate, or else by the only entry with a similar plate. */
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

/** An entry that has one of the texts of a reading. */
export interface FittingEntry {
  facts: AccessFacts;
  /** The index of the text among the texts of the reading. */
  place: number;
}

/** Sorts the nearest entry first, and the older of two equally near entries first. */
const nearerFirst = (one: FittingEntry, other: FittingEntry) =>
  one.place - other.place || (one.facts.entry.id < other.facts.entry.id ? -1 : 1);

/** The matching entries, sorted by their nearest text. Each entry occurs once. */
function nearestFirst(fitting: readonly FittingEntry[]): FittingEntry[] {
  const byId = new Map<string, FittingEntry>();
  for (const found of fitting.toSorted(nearerFirst)) {
    if (!byId.has(found.facts.entry.id)) byId.set(found.facts.entry.id, found);
  }
  return [...byId.values()];
}

/** The only entry with the best rank; null when there is none, or several share that rank. */
function onlyNearest(texts: readonly RankedText[], nearest: readonly FittingEntry[]): FittingEntry | null {
  const rankOf = ({ place }: FittingEntry) => texts[place]!.rank;
  const [first, second] = nearest;
  return first && !(second && rankOf(first) === rankOf(second)) ? first : null;
}

/** The entry that a reading identifies; null when there is none, or several match equally well. */
export const entryOfReading = (texts: readonly RankedText[], fitting: readonly FittingEntry[]) =>
  onlyNearest(texts, nearestFirst(fitting))?.facts.entry ?? null;

/** Decides by the entry that matches the reading best. When several match equally well, the vehicle is not admitted. */
export function decideReading(
  texts: readonly RankedText[],
  fitting: readonly FittingEntry[],
  at: Date,
): AccessDecision {
  const nearest = nearestFirst(fitting);
  const only = onlyNearest(texts, nearest);
  const isExact = only && texts[only.place]!.rank === 'TEXT';
  const candidates = (isExact ? [] : nearest).slice(0, maxCandidates).map(({ facts: { entry }, place }) => {
    const readAs = texts[place]!.text;
    return { entry, differences: textDifferences(texts[0]!.text, readAs, entry), readAs };
  });
  return decisionBy(only?.facts ?? null, at, candidates);
}
