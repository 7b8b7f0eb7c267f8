/** @jsxImportSource react */

/** The parts of a plate. A reading without an entry has only a text. */
interface PlateParts {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

/** A plate as one text, such as `DXB A 7`. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateParts) =>
  [plateType, plateCode, plateNumber].filter(Boolean).join(' ');

/** A plate as it looks on a vehicle. */
export function Plate({ of }: { of: PlateParts }) {
  return <span className="plate">{plateText(of)}</span>;
}
