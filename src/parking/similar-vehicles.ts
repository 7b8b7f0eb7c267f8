import { confusableTextsOf, type RecordedPlate } from './vehicle-identity.ts';

/**
 * Creates an index of vehicles by their plates. For the plate of a parking event, the index finds the vehicles inside
 * whose plates look similar to a camera (`confusableTextsOf`).
 */
export function createSimilarVehicles() {
  // Maps each plate text to the vehicles inside that have this text. The inner map contains the id of the whitelist
  // entry of each vehicle, and the reference of this whitelist entry (such as an apartment).
  const entriesOf = new Map<string, Map<string, string>>();
  // Maps each plate text to the time of the last observation with this text, in milliseconds.
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
     * Returns the references (such as apartments) of the vehicles inside whose plates are similar to `plate`. The
     * result does not include the vehicle to which the whitelist entry `entryId` belongs.
     */
    referencesOf: (plate: RecordedPlate, entryId: string | null): string[] =>
      confusableTextsOf(plate).flatMap((text) =>
        [...(entriesOf.get(text) ?? [])].flatMap(([id, referenceId]) =>
          id === entryId ? [] : [referenceId],
        ),
      ),
    /**
     * Stores the plate and the time of a parking event in the index. Returns true if the event is late: the index
     * already contains a parking event of the same or a similar plate whose time is the same or later.
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
