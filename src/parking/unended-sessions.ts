import type { ParkingSession } from '../../prisma/generated/client/client.ts';
import type { Plate } from '../whitelist/plate.ts';
import { type Likeness, plateKey, vehicleTexts } from './misread-plate.ts';

/** The sessions of different plates that nothing has ended yet: they are open, or their longest stay is over. */
export interface UnendedSessions {
  /**
   * Adds a session, whose plate has none.
   *
   * @param text what a camera read of its vehicle
   */
  add(session: ParkingSession, text: string | null): void;
  remove(session: ParkingSession): void;
  /** That of a plate. */
  of(plate: Plate): ParkingSession | undefined;
  /** Those of plates that may be of the same vehicle. Found by their texts, however many sessions there are. */
  like(likeness: Likeness): ParkingSession[];
  all(): ParkingSession[];
}

/** Creates an empty collection. */
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
    of: (plate) => byPlate.get(plateKey(plate))?.session,
    like({ texts, includes }) {
      const found = new Set(texts.flatMap((text) => [...(byText.get(text) ?? [])]));
      return [...found]
        .filter(({ session, text }) => includes({ ...session, text }))
        .map(({ session }) => session);
    },
    all: () => [...byPlate.values()].map(({ session }) => session),
  };
}
