import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

// Which plates that were seen at different times may be of one vehicle.

/** A plate as one text, to look it up by. */
export const plateKey = ({ plateType, plateCode, plateNumber }: Plate) =>
  `${plateType}/${plateCode}/${plateNumber}`;

/** Whether a plate is a text that a camera read and that fits no entry: the text stands for the number. */
const isText = ({ plateCode }: Plate) => plateCode === '';

/** The texts that a camera may read of a plate: with and without its type. */
function textsOf({ plateType, plateCode, plateNumber }: Plate): string[] {
  const text = `${plateCode}${plateNumber}`.toUpperCase();
  return isText({ plateType, plateCode, plateNumber }) ? [text] : [text, `${plateType}${text}`];
}

/** Whether two plates are known to be of different authorities or regions. */
const isOfOtherType = (one: Plate, other: Plate) =>
  Boolean(one.plateType && other.plateType) && one.plateType !== other.plateType;

/** A plate that was seen, and the text that a camera read, if one did. */
export type PlateWithText = Plate & { text: string | null };

/** The text that a camera read, in the form in which texts are compared; null for a plate in its parts. */
const readTextOf = (plate: PlateWithText) =>
  isText(plate) ? plate.plateNumber : plate.text === null ? null : plateText(plate.text);

/**
 * Makes the test whether another plate is that of a vehicle as far as texts tell: one of both was read as a text that the
 * other has too. So a vehicle stays the same when its entry is made or deleted between two readings.
 */
export function createSameTextTest(vehicle: PlateWithText): (other: PlateWithText) => boolean {
  const read = readTextOf(vehicle);
  const texts = textsOf(vehicle);
  return (other) => {
    // Of two texts that fit no entry, what the camera said of their types decides.
    if (isOfOtherType(vehicle, other) || (isText(vehicle) && isText(other))) return false;
    const otherRead = readTextOf(other);
    return (
      (otherRead !== null && (otherRead === read || texts.includes(otherRead))) ||
      (read !== null && textsOf(other).includes(read))
    );
  };
}

/** A text, and those that differ from it by one character that cameras confuse. */
const similarTexts = (text: string) =>
  similarPlates({ plateType: '', plateCode: '', plateNumber: text }).map(({ plateNumber }) => plateNumber);

/**
 * Makes the test whether a plate may be the one that a gate read. It differs by one character that cameras confuse. Of
 * a text nobody knows which part is type, code and number: it may also be the text of a plate in its parts.
 */
export function createMisreadTest(read: Plate): (plate: Plate) => boolean {
  const similar = new Set(similarPlates(read).map(plateKey));
  const texts = new Set(textsOf(read).flatMap(similarTexts));
  return (plate) => {
    if (!isText(read) && !isText(plate)) return similar.has(plateKey(plate));
    return !isOfOtherType(read, plate) && textsOf(plate).some((text) => texts.has(text));
  };
}
