import type { ParkingEvent, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { queryInTransaction } from '../database/named-statement.ts';
import { isId } from '../ids.ts';
import { type PlateInput, entriesOfReadings } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { isListedAt } from '../whitelist/validity.ts';
import { matchingEntries, namedEntries } from './event-statements.ts';

// This module finds the plate and the whitelist entry for each event that a gate sends.

/** A parking event that a gate sends. The gate sends the plate either in parts or as the text that a camera read. */
export type Reading = GateRecord & PlateInput;

interface GateRecord extends Pick<ParkingEvent, 'eventId' | 'kind' | 'occurredAt'> {
  /**
   * The gate decision that the gateway made about the vehicle before this parking event; `undefined` when the gate
   * requested no decision.
   */
  decision?: ParkingEvent['decision'] | undefined;
  /**
   * The id of the whitelist entry with which the gate admitted the vehicle. If the gate sends no id of a whitelist
   * entry, or an unknown id, the gateway uses the whitelist entry that matches the plate.
   */
  entryId?: string | null | undefined;
}

/**
 * Returns the ids of the whitelist entries that the gate sent in its events (`entryId`). The result omits the ids of
 * whitelist entries of other locations.
 */
export async function findNamedEntries(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<ReadonlySet<string>> {
  const entryIds = [...new Set(readings.flatMap(({ entryId }) => entryId ?? []).filter(isId))];
  if (entryIds.length === 0) return new Set();
  const rows = await queryInTransaction<{ id: string }>(transaction, namedEntries, { locationId, entryIds });
  return new Set(rows.map(({ id }) => id));
}

/**
 * For each parking event, or for each vehicle in an occupancy count, finds the whitelist entry that matches it. If a
 * parking event matches no whitelist entry, the returned map does not contain the event.
 *
 * @param readings the parking events. Each `entryId` in an event must be the id of a whitelist entry of the location
 *   (see `findNamedEntries`)
 */
export async function matchEntries<Matched extends PlateInput & Pick<GateRecord, 'entryId'>>(
  transaction: Transaction,
  locationId: string,
  readings: readonly Matched[],
): Promise<Map<Matched, WhitelistEntry>> {
  const matches = new Map<Matched, WhitelistEntry>();
  const isToBeFound = ({ reading, entryId }: Matched) => Boolean(reading) && !entryId;
  const read = readings.filter(isToBeFound);
  const others = readings.filter((record) => !isToBeFound(record));
  if (others.length > 0) {
    const rows = await queryInTransaction<WhitelistEntry & { n: number }>(transaction, matchingEntries, {
      locationId,
      entryId: others.map(({ entryId }) => entryId || null),
      plateType: others.map(({ plate }) => plate?.plateType ?? null),
      plateCode: others.map(({ plate }) => plate?.plateCode ?? null),
      plateNumber: others.map(({ plate }) => plate?.plateNumber ?? null),
    });
    for (const { n, ...entry } of rows) matches.set(others[n - 1]!, entry);
  }
  if (read.length > 0) {
    const entries = await entriesOfReadings(
      transaction,
      locationId,
      read.flatMap(({ reading }) => reading ?? []),
    );
    for (const [index, entry] of entries.entries()) if (entry) matches.set(read[index]!, entry);
  }
  return matches;
}

/**
 * Returns the plate to store with a parking event, and the text that the camera read. If the gate sent a camera text
 * instead of a plate, the parking event gets the plate of the whitelist entry that matches the text. If no whitelist
 * entry matches, the normalised text becomes the plate number. All events of an unlisted vehicle therefore have the
 * same plate.
 */
export function plateOf(
  { plate, reading }: Reading,
  entry: WhitelistEntry | undefined,
): Plate & Pick<ParkingEvent, 'text' | 'confidence'> {
  if (!reading) return { ...plate, text: null, confidence: null };
  const { plateType, plateCode, plateNumber } = entry ?? {
    plateType: reading.plateType ?? '',
    plateCode: '',
    plateNumber: plateText(reading.text),
  };
  return { plateType, plateCode, plateNumber, text: reading.text, confidence: reading.confidence ?? null };
}

/**
 * Returns two facts about an event: the id of its whitelist entry, and whether this whitelist entry allowed the vehicle
 * to enter at the time of the event.
 */
export const matchOf = (
  { occurredAt }: Pick<GateRecord, 'occurredAt'>,
  entry: WhitelistEntry | undefined,
  timezone: string,
): Pick<ParkingEvent, 'whitelistEntryId' | 'listed'> => ({
  whitelistEntryId: entry?.id ?? null,
  listed: entry !== undefined && isListedAt(entry, timezone, occurredAt),
});

/**
 * Whether a parking event in the database has the same plate as a parking event that a gate sends now. If the gate
 * sends the text that a camera read, the function compares it with the camera text of the stored event, and not with
 * the plate of the stored event. Two events with the same camera text can have different plates, because a change of
 * the whitelist can change which entry matches the text. For a camera text, the function also compares the confidence
 * of the camera reading, and the plate type if the gate sent one. The function ignores the plate type if the stored
 * event belongs to the whitelist entry that the gate named (`entryId`).
 */
export function hasPlate(event: ParkingEvent, { plate, reading, entryId }: Reading): boolean {
  if (reading) {
    const isOfNamedEntry = Boolean(entryId) && event.whitelistEntryId === entryId;
    return (
      event.text === reading.text &&
      event.confidence === (reading.confidence ?? null) &&
      (!reading.plateType || isOfNamedEntry || event.plateType === reading.plateType)
    );
  }
  return (
    event.text === null &&
    event.plateType === plate.plateType &&
    event.plateCode === plate.plateCode &&
    event.plateNumber === plate.plateNumber
  );
}
