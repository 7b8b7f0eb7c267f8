import type { ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { type PlateMatcher, plateKey, vehicleTexts } from './vehicle-identity.ts';

/**
 * The parking sessions of a location that have no recorded end. For each plate, there is at most one parking session
 * without a recorded end. A parking session without a recorded end is open until its maximum stay is over.
 */
export interface UnendedSessions {
  /**
   * Adds a parking session to the collection. The collection of parking sessions must not already contain a session
   * with the same plate.
   *
   * @param text the text that a camera read from the licence plate of the vehicle in this parking session
   */
  add(session: ParkingSession, text: string | null): void;
  remove(session: ParkingSession): void;
  /** Returns the parking session with the given plate, or `undefined` if the collection has no such session. */
  withPlate(plate: Plate): ParkingSession | undefined;
  /**
   * Returns the parking sessions in the collection whose plates match the condition `matcher`. The time to find these
   * sessions does not depend on how many parking sessions the collection contains.
   */
  matching(matcher: PlateMatcher): ParkingSession[];
  all(): ParkingSession[];
}

/** Creates an empty collection of parking sessions that have no recorded end. */
export function createUnendedSessions(): UnendedSessions {
  type Unended = { session: ParkingSession; text: string | null };
  const byPlate = new Map<string, Unended>();
  const byText = new Map<string, Set<Unended>>();
  const textsOf = ({ session, text }: Unended) => vehicleTexts({ ...session, text });

  return {
    add(session, text) {
      const unended = { session, text };
      byPlate.set(plateKey(session), unended);
      for (const each of textsOf(unended)) byText.set(each, (byText.get(each) ?? new Set()).add(unended));
    },
    remove(session) {
      const unended = byPlate.get(plateKey(session));
      if (!unended) return;
      byPlate.delete(plateKey(session));
      for (const each of textsOf(unended)) byText.get(each)!.delete(unended);
    },
    withPlate: (plate) => byPlate.get(plateKey(plate))?.session,
    matching({ texts, includes }) {
      const found = new Set(texts.flatMap((text) => [...(byText.get(text) ?? [])]));
      return [...found]
        .filter(({ session, text }) => includes({ ...session, text }))
        .map(({ session }) => session);
    },
    all: () => [...byPlate.values()].map(({ session }) => session),
  };
}
