import { exampleEvent, examplePlate, noLocation, type Plate } from './examples.ts';

/**
 * The location and the plate that the explorer fills into the variables of the example operations. The explorer chooses
 * a location and a plate that the user's API key has permission to read.
 */
export interface ExampleValues {
  locationId: string;
  /** A plate from the whitelist of the location `locationId`. */
  plate?: Plate;
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Whether a JSON value is an example parking event that the explorer created. The identifier of an example parking
 * event contains the time of the event.
 */
function isExampleEvent(value: unknown): value is ReturnType<typeof exampleEvent> {
  const { eventId, occurredAt } = Object(value) as Record<string, unknown>;
  return typeof occurredAt === 'string' && eventId === `explorer-${Date.parse(occurredAt)}`;
}

/**
 * Fills the variables of an explorer tab with a location and a plate that the user's API key has permission to read.
 * The function keeps values that the user has written. The function replaces only an empty `locationId`, the example
 * plate, the example parking event, and the values that the explorer filled in for the previous API key (`former`). The
 * example parking event gets a new identifier and the current time, because the gateway records only one parking event
 * for each identifier.
 *
 * @param text the variables as the JSON text in the editor
 * @returns the variables with the new values, as JSON text. When no value can be replaced, or when `text` is not valid
 *   JSON yet, the result is `text` without changes.
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
    if (isExampleEvent(value)) {
      changed = true;
      return { ...value, ...exampleEvent(new Date()) };
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
