import { confusableTextsOf, type RecordedPlate } from './vehicle-identity.ts';

/**
 * Creates an index of vehicles by their plates. The index finds the vehicles whose plates a camera may confuse with the
 * plate of a parking event (`confusableTextsOf`).
 */
export function createSimilarVehicles() {
  // Maps each plate text to the whitelist entries of the vehicles inside with this plate text. The inner map contains
  // the id of each whitelist entry, with the reference of the entry (such as an apartment).
  const entriesOf = new Map<string, Map<string, string>>();
  // Maps each plate text to the time of its last observation, in milliseconds.
  const lastObservedAt = new Map<string, number>();
  return {
    /** Adds a vehicle inside. */
    add(plate: RecordedPlate, entryId: string, referenceId: string): void {
      for (const text of confusableTextsOf(plate)) {
        const entries = entriesOf.get(text) ?? new Map<string, string>();
        entriesOf.set(text, entries.set(entryId, referenceId));
      }
    },
    /**
     * Returns the references (such as apartments) of vehicles with a similar plate, except the vehicle of the whitelist
     * entry `entryId`.
     */
    referencesOf: (plate: RecordedPlate, entryId: string | null): string[] =>
      confusableTextsOf(plate).flatMap((text) =>
        [...(entriesOf.get(text) ?? [])].flatMap(([id, referenceId]) =>
          id === entryId ? [] : [referenceId],
        ),
      ),
    /**
     * Stores the plate and time of a parking event. Returns whether an event of this plate or a similar plate, with the
     * same or a later time, was already stored.
     */
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
