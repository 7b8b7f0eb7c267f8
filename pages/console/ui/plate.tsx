/** @jsxImportSource react */

/** The parts of a plate. If a camera read a plate that has no entry, the plate has only a text. */
interface PlateParts {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

/** Returns a plate as one text, such as `DXB A 7`. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateParts) =>
  [plateType, plateCode, plateNumber].filter(Boolean).join(' ');

/** Shows a plate as it looks on a vehicle. */
export function Plate({ of }: { of: PlateParts }) {
  return <span className="plate">{plateText(of)}</span>;
}
