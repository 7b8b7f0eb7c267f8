import type { AccessReason, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { type AccessCheck, type AccessFacts, accessReason, checksOf } from './access-rules.ts';
import type { Plate } from './plate.ts';
import type { RankedText } from './plate-reading.ts';
import { plateDifferences, type PlateDifference, textDifferences } from './similar-plates.ts';

/** An entry that a camera may have meant. */
export interface AccessCandidate {
  entry: WhitelistEntry;
  differences: PlateDifference[];
  /** The text that the entry has, of those that a reading may mean; null for a plate. */
  readAs: string | null;
}

/** The most candidates of a decision: no person chooses among more. */
export const maxCandidates = 27;

/** Whether a vehicle may enter, by which entry; candidates when a camera may have misread the plate. */
export interface AccessDecision {
  reason: AccessReason;
  entry: WhitelistEntry | null;
  candidates: AccessCandidate[];
  /** What the rules looked at; null without an entry. */
  facts: AccessFacts | null;
  at: Date;
}

/** A decision by the entry that was found, if any. */
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

/** What every rule of a decision found, for the person who has to tell a driver why. */
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
      ? `${candidates.length} entries may be meant: a person must decide`
      : 'The whitelist does not have this plate';
  return [{ name: 'listed', passed: false, detail }];
}

/** Decides by the entry whose plate is the one that was read, or else by the only one that is similar. */
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

/** An entry, and which of the texts of a reading it has. */
export interface FittingEntry {
  facts: AccessFacts;
  /** Place of the text among those of the reading. */
  place: number;
}

/** The nearer of two first, and of two that are equally near the older one. */
const nearerFirst = (one: FittingEntry, other: FittingEntry) =>
  one.place - other.place || (one.facts.entry.id < other.facts.entry.id ? -1 : 1);

/** The entries of a reading, each once by the nearest text that it has; the nearest first. */
function nearestFirst(fitting: readonly FittingEntry[]): FittingEntry[] {
  const byId = new Map<string, FittingEntry>();
  for (const found of fitting.toSorted(nearerFirst)) {
    if (!byId.has(found.facts.entry.id)) byId.set(found.facts.entry.id, found);
  }
  return [...byId.values()];
}

/** The only entry of the nearest rank that has any; null when there are several, or none. */
function onlyNearest(texts: readonly RankedText[], nearest: readonly FittingEntry[]): FittingEntry | null {
  const rankOf = ({ place }: FittingEntry) => texts[place]!.rank;
  const [first, second] = nearest;
  return first && !(second && rankOf(first) === rankOf(second)) ? first : null;
}

/** The entry that a reading means; null when none or several may be meant. */
export const entryOfReading = (texts: readonly RankedText[], fitting: readonly FittingEntry[]) =>
  onlyNearest(texts, nearestFirst(fitting))?.facts.entry ?? null;

/** Decides by the only entry that fits what was read best. Several that fit equally well let nobody in. */
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
