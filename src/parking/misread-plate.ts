import type { Plate } from '../whitelist/plate.ts';
import { similarPlates } from '../whitelist/similar-plates.ts';

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
    const isOfOtherType = read.plateType && plate.plateType && read.plateType !== plate.plateType;
    return !isOfOtherType && textsOf(plate).some((text) => texts.has(text));
  };
}
