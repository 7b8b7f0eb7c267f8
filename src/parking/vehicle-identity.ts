import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

// This module decides whether two recorded plates may belong to the same vehicle.

/** Converts a plate to a single text, for use as the key of a map. */
export const plateKey = ({ plateType, plateCode, plateNumber }: Plate) =>
  `${plateType}/${plateCode}/${plateNumber}`;

/** A recorded plate, with the text that a camera read. The text is null when the gate sent the parts of the plate. */
export type RecordedPlate = Plate & { text: string | null };

/**
 * The search condition for the plates that may belong to one vehicle. A matching plate has one of the `texts` and also
 * passes the test.
 */
export interface PlateMatcher {
  /** The texts to search for, in the form of `vehicleTexts`. */
  texts: readonly string[];
  includes: (plate: RecordedPlate) => boolean;
}

/**
 * Whether the number of a plate is the unchanged text that a camera read. The gateway stores the text as the plate
 * number if the text matches no whitelist entry.
 */
const isText = ({ plateCode }: Plate) => plateCode === '';

/**
 * Returns the texts that a camera may read from a plate: one text without the plate type and one with it. The type is
 * empty when the camera sent no type.
 */
function textsOf({ plateType, plateCode, plateNumber }: Plate): string[] {
  const text = `${plateCode}${plateNumber}`.toUpperCase();
  return [text, `${plateType}${text}`];
}

/**
 * Returns the text that a camera read, in the form of `plateText`. The result is null when no camera read the plate.
 */
const readTextOf = (plate: RecordedPlate) =>
  isText(plate) ? plate.plateNumber : plate.text === null ? null : plateText(plate.text);

/**
 * Returns all texts that identify a vehicle: the texts that a camera may read from its plate, and the text that a
 * camera has read.
 */
export function vehicleTexts(plate: RecordedPlate): string[] {
  const read = readTextOf(plate);
  return [...new Set([...textsOf(plate), ...(read === null ? [] : [read])])];
}

/**
 * Whether two plates have different plate types, so that they cannot belong to the same vehicle. A plate without a type
 * can belong to any vehicle.
 */
const isOfOtherType = (one: Plate, other: Plate) =>
  Boolean(one.plateType && other.plateType) && one.plateType !== other.plateType;

/**
 * Creates a condition that finds the plates of the same vehicle by text. Two plates match when the text that a camera
 * read for one plate can be read from the other plate. The sessions of a vehicle therefore stay together when its
 * whitelist entry is created or deleted between two camera readings.
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
 * Creates a condition that finds the plates that a camera may have misread as the given plate. A misread plate differs
 * by one character that cameras confuse. A stored camera text has no known parts, so it is compared with the texts of
 * complete plates.
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
