import { type Command, InvalidArgumentError } from 'commander';
import type { PlateInput } from './generated/operations.ts';

/** Reads a whole number from the command line. */
export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('Not a whole number.');
  return Number(value);
}

/** Gathers the values of an option that may be said more than once. */
export const collect = (value: string, earlier: readonly string[]) => [...earlier, value];

/** Reads a plate: its type, code and number with spaces, slashes or hyphens between them. */
export function plate(value: string): PlateInput {
  const [plateType, plateCode, plateNumber, ...more] = value.trim().split(/[\s/-]+/);
  if (!plateType || !plateCode || !plateNumber || more.length > 0) {
    throw new InvalidArgumentError('A plate is its type, code and number, such as DXB/A/7001.');
  }
  return { plateType, plateCode, plateNumber };
}

/** A plate as people read it. */
export const plateText = ({ plateType, plateCode, plateNumber }: PlateInput) =>
  `${plateType} ${plateCode} ${plateNumber}`;

/** Adds the option that names a location, as most commands need it. */
export function withLocation(command: Command): Command {
  return command.requiredOption('--location <location>', 'the location: its id, slug or name');
}
