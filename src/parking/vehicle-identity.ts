import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { confusableTexts, similarPlates, toConfusableForm } from '../whitelist/similar-plates.ts';

// This module decides whether two recorded plates may belong to the same vehicle.

/** Converts a plate to a single text, for use as the key of a map. */
export const plateKey = ({ plateType, plateCode, plateNumber }: Plate) =>
  `${plateType}/${plateCode}/${plateNumber}`;

/**
 * A recorded plate, with the text that a camera read. If the gate sent the type, code and number of the plate instead
 * of a camera text, `text` is null.
 */
export type RecordedPlate = Plate & { text: string | null };

/**
 * A search condition for plates that may belong to the same vehicle. A plate matches if two conditions are true: the
 * plate has one of the texts in `texts`, and the function `includes` returns true for the plate.
 */
export interface PlateMatcher {
  /** The plate texts for the search, in the form that `vehicleTexts` returns. */
  texts: readonly string[];
  includes: (plate: RecordedPlate) => boolean;
}

/**
 * Whether the field `plateNumber` contains a whole camera text instead of a plate number. The gateway stores a camera
 * text as the plate number if the text matches no whitelist entry.
 */
const isText = ({ plateCode }: Plate) => plateCode === '';

/**
 * Returns the two texts that a camera may read from a plate: the plate without its plate type, and the plate with its
 * plate type. If the plate has no plate type, the two returned texts are equal.
 */
function textsOf({ plateType, plateCode, plateNumber }: Plate): string[] {
  const text = `${plateCode}${plateNumber}`.toUpperCase();
  return [text, `${plateType}${text}`];
}

/**
 * Returns the text that a camera read, normalised by the function `plateText`. Returns null when the gate sent the
 * type, code and number of the plate instead of a camera text.
 */
const readTextOf = (plate: RecordedPlate) =>
  isText(plate) ? plate.plateNumber : plate.text === null ? null : plateText(plate.text);

/**
 * Returns all texts that identify a vehicle: the texts that a camera may read from its plate, and the text that a
 * camera has actually read.
 */
export function vehicleTexts(plate: RecordedPlate): string[] {
  const read = readTextOf(plate);
  return [...new Set([...textsOf(plate), ...(read === null ? [] : [read])])];
}

/**
 * Whether two plates have different plate types, and therefore belong to different vehicles. If one of the two plates
 * has no plate type, the function returns false, because the plates may belong to the same vehicle.
 */
const isOfOtherType = (one: Plate, other: Plate) =>
  Boolean(one.plateType && other.plateType) && one.plateType !== other.plateType;

/**
 * Creates a condition that compares camera texts, to find other recorded plates of the same vehicle. A camera text
 * matches a plate if a camera may read this text from the plate. The camera text identifies a vehicle even if a client
 * creates or deletes the whitelist entry of the vehicle between two camera readings.
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

/**
 * Creates a condition that matches plates similar to a given plate. Similar plates differ by at most one character that
 * cameras confuse. If one plate or both plates are known only as camera texts, the condition compares the texts that
 * cameras may read from the plates.
 */
export function similarPlateMatcher(read: Plate): PlateMatcher {
  const similar = new Set(similarPlates(read).map(plateKey));
  const texts = new Set(textsOf(read).flatMap((text) => [text, ...confusableTexts(text)]));
  return {
    texts: [...texts],
    includes(plate) {
      if (!isText(read) && !isText(plate)) return similar.has(plateKey(plate));
      return !isOfOtherType(read, plate) && textsOf(plate).some((text) => texts.has(text));
    },
  };
}

/**
 * Returns the texts of a vehicle (`vehicleTexts`). If cameras confuse a letter with a digit, the returned texts contain
 * this digit instead of the letter. If two plates match according to `sameTextMatcher` or `similarPlateMatcher`,
 * `confusableTextsOf` returns at least one common text for the two plates.
 */
export const confusableTextsOf = (plate: RecordedPlate): string[] => [
  ...new Set(vehicleTexts(plate).map(toConfusableForm)),
];
