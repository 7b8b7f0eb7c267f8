import type { ParkingEvent, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../database/types.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { entryColumns, samePlate } from '../whitelist/columns.ts';
import { type PlateInput, entriesOfReadings } from '../whitelist/matching.ts';
import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';
import { isListedAt } from '../whitelist/validity.ts';

// This module finds the plate and the whitelist entry for each event that a gate sends.

/**
 * An event that a gate sends, with its plate. The gate sends either the parts of the plate or the text that a camera
 * read.
 */
export type Reading = GateRecord & PlateInput;

interface GateRecord extends Pick<ParkingEvent, 'eventId' | 'kind' | 'occurredAt'> {
  /** The decision of the gateway before the event; undefined when the gate did not ask for a decision. */
  decision?: ParkingEvent['decision'] | undefined;
  /**
   * The id of the whitelist entry for which the gate opened. If the id is omitted or the location has no such entry,
   * the gateway uses the entry that matches the plate.
   */
  entryId?: string | null | undefined;
}

const namedEntries = namedStatement(
  'parking-named-entries',
  'SELECT e.id FROM "WhitelistEntry" e WHERE e."locationId" = $locationId AND e.id = ANY($entryIds::text[])',
);

/**
 * Returns the ids of the whitelist entries that the gate named in its events. Entries that the location does not have
 * are omitted.
 */
export async function findNamedEntries(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<ReadonlySet<string>> {
  const entryIds = [...new Set(readings.flatMap(({ entryId }) => entryId ?? []))];
  if (entryIds.length === 0) return new Set();
  const rows = await queryInTransaction<{ id: string }>(transaction, namedEntries, { locationId, entryIds });
  return new Set(rows.map(({ id }) => id));
}

/**
 * Finds a whitelist entry for each event: the entry that the gate named or, if there is none, the entry with the plate
 * of the event.
 */
const matchingEntries = namedStatement(
  'parking-matching-entries',
  `
  WITH q AS (
    SELECT * FROM unnest($entryId::text[], $plateType::text[], $plateCode::text[], $plateNumber::text[])
      WITH ORDINALITY AS q("entryId", "plateType", "plateCode", "plateNumber", n)
  )
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND ${samePlate('e', 'q')}
  WHERE q."entryId" IS NULL
  UNION ALL
  SELECT q.n::int, ${entryColumns('e')} FROM q
  JOIN "WhitelistEntry" e ON e."locationId" = $locationId AND e.id = q."entryId"`,
);

/**
 * Finds the whitelist entry of each event. Events without an entry are missing in the map.
 *
 * @param readings the events; the location must have the entries that they name (`findNamedEntries`)
 */
export async function matchEntries(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<Map<Reading, WhitelistEntry>> {
  const matches = new Map<Reading, WhitelistEntry>();
  const isToBeFound = ({ reading, entryId }: Reading) => Boolean(reading) && !entryId;
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
 * Returns the plate to store with an event, and the text that the camera read. If the gate sent a text, the event gets
 * the plate of the matching whitelist entry. If no entry matches, the text itself is stored as the plate number, so
 * that the entry and the exit of an unlisted vehicle still match.
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
 * Returns the columns of an event about its whitelist entry. They are the id of the entry, and whether the entry
 * allowed the vehicle to enter at that time.
 */
export const matchOf = (
  { occurredAt }: Reading,
  entry: WhitelistEntry | undefined,
  timezone: string,
): Pick<ParkingEvent, 'whitelistEntryId' | 'listed'> => ({
  whitelistEntryId: entry?.id ?? null,
  listed: entry !== undefined && isListedAt(entry, timezone, occurredAt),
});

/**
 * Whether a recorded event has the plate that a gate sends now. If the gate sends the text that a camera read, the
 * texts are compared. Plates would not be reliable, because after a change of the whitelist the same text can match
 * another entry.
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
