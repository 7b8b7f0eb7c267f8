import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

// Which plates that were seen at different times may be of one vehicle.

/** A plate as one text, to look it up by. */
export const plateKey = ({ plateType, plateCode, plateNumber }: Plate) =>
  `${plateType}/${plateCode}/${plateNumber}`;

/** A plate that was seen, and the text that a camera read, if one did. */
export type SeenPlate = Plate & { text: string | null };

/** Which plates may be of the same vehicle as a given one: they have one of these texts, and pass a test. */
export interface Likeness {
  /** Texts in the form of `vehicleTexts`. */
  texts: readonly string[];
  includes: (plate: SeenPlate) => boolean;
}

/** Whether a plate is a text that a camera read and that fits no entry: the text stands for the number. */
const isText = ({ plateCode }: Plate) => plateCode === '';

/** The texts that a camera may read of a plate: with and without its type. */
function textsOf({ plateType, plateCode, plateNumber }: Plate): string[] {
  const text = `${plateCode}${plateNumber}`.toUpperCase();
  return isText({ plateType, plateCode, plateNumber }) ? [text] : [text, `${plateType}${text}`];
}

/** The text that a camera read, in the form in which texts are compared; null for a plate in its parts. */
const readTextOf = (plate: SeenPlate) =>
  isText(plate) ? plate.plateNumber : plate.text === null ? null : plateText(plate.text);

/** Every text by which a vehicle may be known: those of its plate, and what a camera read. */
export function vehicleTexts(plate: SeenPlate): string[] {
  const read = readTextOf(plate);
  return [...new Set([...textsOf(plate), ...(read === null ? [] : [read])])];
}

/** Whether two plates are known to be of different authorities or regions. */
const isOfOtherType = (one: Plate, other: Plate) =>
  Boolean(one.plateType && other.plateType) && one.plateType !== other.plateType;

/**
 * Plates of the same vehicle as far as texts tell: one of both was read as a text that the other has too. So a vehicle stays
 * the same when its entry is made or deleted between two readings.
 */
export function sameText(vehicle: SeenPlate): Likeness {
  const read = readTextOf(vehicle);
  const texts = vehicleTexts(vehicle);
  return {
    texts,
    includes(other) {
      // Of two texts that fit no entry, what the camera said of their types decides.
      if (isOfOtherType(vehicle, other) || (isText(vehicle) && isText(other))) return false;
      const otherRead = readTextOf(other);
      return (
        (otherRead !== null && texts.includes(otherRead)) ||
        (read !== null && vehicleTexts(other).includes(read))
      );
    },
  };
}

/** A text, and those that differ from it by one character that cameras confuse. */
const similarTexts = (text: string) =>
  similarPlates({ plateType: '', plateCode: '', plateNumber: text }).map(({ plateNumber }) => plateNumber);

/**
 * Plates that may be the one that a gate read. They differ by one character that cameras confuse. Of a text nobody knows
 * which part is type, code and number: it may also be the text of a plate in its parts.
 */
export function misread(read: Plate): Likeness {
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
