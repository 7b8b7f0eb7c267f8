import { confusableTextsOf, type RecordedPlate } from './vehicle-identity.ts';

/**
 * Creates an index of vehicles by their plates. For the plate of a parking event, the index finds similar vehicles.
 * They are inside the location, and cameras can confuse their plates with the plate of the event (`confusableTextsOf`).
 */
export function createSimilarVehicles() {
  // Maps each plate text to the vehicles with this text that are inside the location. The inner map maps the id of each
  // vehicle's whitelist entry to the reference of this entry (such as an apartment).
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
     * Returns the references (such as apartments) of the vehicles that are inside the location and have a plate similar
     * to `plate`. The function ignores the vehicle of the whitelist entry `entryId`.
     */
    referencesOf: (plate: RecordedPlate, entryId: string | null): string[] =>
      confusableTextsOf(plate).flatMap((text) =>
        [...(entriesOf.get(text) ?? [])].flatMap(([id, referenceId]) =>
          id === entryId ? [] : [referenceId],
        ),
      ),
    /**
     * Stores the plate and the time of a parking event in the index of vehicles. Returns true if the event is late. An
     * event is late if the index already contains a parking event with the same or a similar plate and with the same or
     * a later time.
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
