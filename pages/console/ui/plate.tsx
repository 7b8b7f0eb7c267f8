/** @jsxImportSource react */

/**
 * The type, code and number of a plate. If a camera text matches no whitelist entry, `plateNumber` is the whole camera
 * text, and `plateCode` is empty.
 */
interface PlateParts {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

/** Returns a plate as one text, such as `DXB A 7`. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateParts) =>
  [plateType, plateCode, plateNumber].filter(Boolean).join(' ');

/** Shows the text of a licence plate in a frame that looks like a real licence plate. */
export function Plate({ of }: { of: PlateParts }) {
  return <span className="plate">{plateText(of)}</span>;
}
