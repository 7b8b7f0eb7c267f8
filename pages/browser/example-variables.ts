import { exampleEvent, examplePlate, noLocation, type Plate } from './examples.ts';

/**
 * The location and the plate that the explorer fills into the variables of the example operations. The explorer chooses
 * a location and a plate that the user's API key has permission to read.
 */
export interface ExampleValues {
  locationId: string;
  /** A plate from the whitelist of the location whose id is `locationId`. */
  plate?: Plate;
}

/** The values that the explorer itself has filled into the variables of a tab. */
export type FilledValues = Partial<ExampleValues>;

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
 * The function keeps values that the user has written, and values in a link that the user has opened. If the GraphQL
 * variables contain no location id that is empty or comes from the explorer, the function replaces nothing. Otherwise,
 * the function replaces each such location id and the example parking event. In this case, the function also replaces
 * the plate, if it is the example plate or the plate that the explorer filled in for the previous API key. The example
 * parking event gets a new identifier and the current time, because the gateway records only one parking event for each
 * identifier.
 *
 * @param text the JSON text of the variables in the editor
 * @param former the location and the plate that the explorer filled into this tab for the previous API key
 * @returns `text` contains the variables with the new values, as JSON text. The returned `text` is equal to the
 *   argument `text` if the function replaces no value, or if the argument is not valid JSON yet. `filled` contains the
 *   values that the explorer has filled into this tab so far.
 */
export function fillVariables(
  text: string,
  current: ExampleValues,
  former: FilledValues = {},
): { text: string; filled: FilledValues } {
  const isReplaced = (name: string, value: unknown) =>
    name === 'locationId' && (value === noLocation || value === former.locationId);
  let hasReplaced = false;
  let changed = false;
  const filled: FilledValues = { ...former };
  const find = (name: string, value: unknown) => {
    hasReplaced ||= isReplaced(name, value);
    return value;
  };
  const fill = (name: string, value: unknown): unknown => {
    if (isReplaced(name, value)) {
      changed ||= value !== current.locationId;
      filled.locationId = current.locationId;
      return current.locationId;
    }
    if (current.plate && isEqual(value, former.plate ?? examplePlate)) {
      changed ||= !isEqual(value, current.plate);
      filled.plate = current.plate;
      return current.plate;
    }
    if (isExampleEvent(value)) {
      changed = true;
      return { ...value, ...exampleEvent(new Date()) };
    }
    return value;
  };
  try {
    JSON.parse(text, find);
    if (!hasReplaced) return { text, filled: former };
    const variables = JSON.stringify(JSON.parse(text, fill), null, 2);
    return { text: changed ? variables : text, filled };
  } catch {
    return { text, filled: former };
  }
}
