import { confusableTextsOf, type RecordedPlate } from './vehicle-identity.ts';

/**
 * Creates an index of vehicles by their plates. The index finds the vehicles whose plates a camera may confuse with the
 * plate of a parking event (`confusableTextsOf`).
 */
export function createSimilarVehicles() {
  // For each text: the ids of whitelist entries whose vehicles were inside, with the reference of each entry.
  const entriesOf = new Map<string, Map<string, string>>();
  // For each text: the time of the last observation in milliseconds.
  const lastObservedAt = new Map<string, number>();
  return {
    /** Adds a vehicle inside. */
    add(plate: RecordedPlate, entryId: string, referenceId: string): void {
      for (const text of confusableTextsOf(plate)) {
        const entries = entriesOf.get(text) ?? new Map<string, string>();
        entriesOf.set(text, entries.set(entryId, referenceId));
      }
    },
    /** Returns the references of the similar vehicles that belong to another whitelist entry than the given one. */
    referencesOf: (plate: RecordedPlate, entryId: string | null): string[] =>
      confusableTextsOf(plate).flatMap((text) =>
        [...(entriesOf.get(text) ?? [])].flatMap(([id, referenceId]) =>
          id === entryId ? [] : [referenceId],
        ),
      ),
    /** Stores an observation, and returns whether a similar vehicle was observed at the same or a later time. */
    observe(plate: RecordedPlate, at: Date): boolean {
      const texts = confusableTextsOf(plate);
      const isLate = texts.some((text) => (lastObservedAt.get(text) ?? -Infinity) >= at.getTime());
      for (const text of texts) {
        lastObservedAt.set(text, Math.max(at.getTime(), lastObservedAt.get(text) ?? -Infinity));
      }
      return isLate;
    },
  };
}
