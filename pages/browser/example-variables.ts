import { examplePlate, noLocation, type Plate } from './examples.ts';

/** The data that an API key can read, for the variables of the examples. */
export interface ExampleValues {
  locationId: string;
  /** A plate from the whitelist of the location. */
  plate?: Plate;
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Fills the variables of a tab with ids in the scope of the API key. Only values that the explorer itself has written
 * are replaced: an empty `locationId`, the example plate, and the values for the previous key.
 *
 * @param text the variables as JSON, as the editor shows them
 * @returns the text, unchanged when there is nothing to fill or when the text is not valid JSON yet
 */
export function fillVariables(
  text: string,
  current: ExampleValues,
  former: ExampleValues | undefined,
): string {
  let changed = false;
  const fill = (name: string, value: unknown): unknown => {
    if (name === 'locationId' && (value === noLocation || value === former?.locationId)) {
      changed ||= value !== current.locationId;
      return current.locationId;
    }
    if (current.plate && (isEqual(value, examplePlate) || isEqual(value, former?.plate))) {
      changed ||= !isEqual(value, current.plate);
      return current.plate;
    }
    return value;
  };
  try {
    const filled = JSON.stringify(JSON.parse(text, fill), null, 2);
    return changed ? filled : text;
  } catch {
    return text;
  }
}
