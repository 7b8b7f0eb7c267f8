import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

// Decides which plates, recorded at different times, may belong to the same vehicle.

/** Returns a plate as a single text, for look-ups. */
export const plateKey = ({ plateType, plateCode, plateNumber }: Plate) =>
  `${plateType}/${plateCode}/${plateNumber}`;

/** A recorded plate, and the text that a camera read. The text is null when no camera read the plate. */
export type RecordedPlate = Plate & { text: string | null };

/** Finds the plates that may belong to the same vehicle. Such a plate has one of the texts and passes the test. */
export interface PlateMatcher {
  /** Texts in the form of `vehicleTexts`. */
  texts: readonly string[];
  includes: (plate: RecordedPlate) => boolean;
}

/**
 * Whether a plate is the text of a reading that matched no whitelist entry. Such a text is stored as the plate number.
 */
const isText = ({ plateCode }: Plate) => plateCode === '';

/**
 * Returns the texts that a camera may read from a plate: without its type, and with its type. The type is empty when
 * the camera sent no type.
 */
function textsOf({ plateType, plateCode, plateNumber }: Plate): string[] {
  const text = `${plateCode}${plateNumber}`.toUpperCase();
  return [text, `${plateType}${text}`];
}

/**
 * Returns the text that a camera read, in the form in which texts are compared. The result is null for a plate without
 * a reading.
 */
const readTextOf = (plate: RecordedPlate) =>
  isText(plate) ? plate.plateNumber : plate.text === null ? null : plateText(plate.text);

/** Returns all texts that identify a vehicle: the texts of its plate, and the text that a camera read. */
export function vehicleTexts(plate: RecordedPlate): string[] {
  const read = readTextOf(plate);
  return [...new Set([...textsOf(plate), ...(read === null ? [] : [read])])];
}

/** Whether two plates are known to be from different authorities or regions. */
const isOfOtherType = (one: Plate, other: Plate) =>
  Boolean(one.plateType && other.plateType) && one.plateType !== other.plateType;

/**
 * Matches plates of the same vehicle by text. Two plates match when the reading of one plate is a text of the other
 * plate. A vehicle therefore keeps its identity when its whitelist entry is created or deleted between two readings.
 */
export function sameTextMatcher(vehicle: RecordedPlate): PlateMatcher {
  const read = readTextOf(vehicle);
  const texts = vehicleTexts(vehicle);
  return {
    texts,
    includes(other) {
      if (isOfOtherType(vehicle, other)) return false;
      const otherRead = readTextOf(other);
      return (
        (otherRead !== null && texts.includes(otherRead)) ||
        (read !== null && vehicleTexts(other).includes(read))
      );
    },
  };
}

/** Returns a text, followed by the texts that differ from it by one character that cameras confuse. */
const similarTexts = (text: string) =>
  similarPlates({ plateType: '', plateCode: '', plateNumber: text }).map(({ plateNumber }) => plateNumber);

/**
 * Matches plates that a camera may have misread as the given plate, because they differ by one character that cameras
 * confuse. The parts of a stored text are unknown, so the text is also compared with the texts of complete plates.
 */
export function similarPlateMatcher(read: Plate): PlateMatcher {
  const similar = new Set(similarPlates(read).map(plateKey));
  const texts = new Set(textsOf(read).flatMap(similarTexts));
  return {
    texts: [...texts],
    includes(plate) {
      if (!isText(read) && !isText(plate)) return similar.has(plateKey(plate));
      return !isOfOtherType(read, plate) && textsOf(plate).some((text) => texts.has(text));
    },
  };
}
