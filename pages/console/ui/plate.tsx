/** @jsxImportSource react */

/** The parts of a plate. If a camera read a plate that is in no whitelist, there is only a text. */
interface PlateParts {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

/** Returns a plate as one text, such as `DXB A 7`. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateParts) =>
  [plateType, plateCode, plateNumber].filter(Boolean).join(' ');

/** Shows a plate in the form in which it looks on a vehicle. */
export function Plate({ of }: { of: PlateParts }) {
  return <span className="plate">{plateText(of)}</span>;
}
