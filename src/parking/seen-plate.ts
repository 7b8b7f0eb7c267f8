import type { ParkingEvent, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Transaction } from '../audit/record.ts';
import { namedStatement, queryInTransaction } from '../database/named-statement.ts';
import { isListedAt } from '../whitelist/access-rules.ts';
import { entryColumns, samePlate } from '../whitelist/columns.ts';
import { type AskedPlate, entriesOfReadings } from '../whitelist/decisions.ts';
import type { Plate } from '../whitelist/plate.ts';
import { plateText } from '../whitelist/plate-reading.ts';

// The plate that a gate saw, and the whitelist entry that it belongs to.

/** What a gate saw: a plate in its parts, or what a camera read. */
export type Reading = Seen & AskedPlate;

interface Seen extends Pick<ParkingEvent, 'eventId' | 'kind' | 'occurredAt'> {
  /** What the gate was told before, if it asked. */
  decision?: ParkingEvent['decision'] | undefined;
  /** The whitelist entry that the gate let in; the entry of the plate when left out. */
  entryId?: string | null | undefined;
}

/** The whitelist entries that readings belong to: the one that the gate named, or that of the plate. */
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

/** The whitelist entry of each reading that has one. */
export async function matchEntries(
  transaction: Transaction,
  locationId: string,
  readings: readonly Reading[],
): Promise<Map<Reading, WhitelistEntry>> {
  const matches = new Map<Reading, WhitelistEntry>();
  const isToBeFound = ({ reading, entryId }: Reading) => Boolean(reading) && !entryId;
  const read = readings.filter(isToBeFound);
  const others = readings.filter((seen) => !isToBeFound(seen));
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
 * The plate of an event, and what the camera read. A reading has the plate of its entry; without one its text stands
 * for the number, so that entry and exit of a vehicle that is not listed still find each other.
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

/** What an event keeps of its whitelist entry: which it is, and whether it lets the vehicle in. */
export const matchOf = (
  { entryId, occurredAt }: Reading,
  entry: WhitelistEntry | undefined,
  timezone: string,
): Pick<ParkingEvent, 'whitelistEntryId' | 'listed'> => ({
  whitelistEntryId: entryId || (entry?.id ?? null),
  listed: entry !== undefined && isListedAt(entry, timezone, occurredAt),
});

/** Whether an event is of the plate that a gate sent. What was read may mean another entry by now: it is the same. */
export function hasPlate(event: ParkingEvent, { plate, reading, entryId }: Reading): boolean {
  if (reading) {
    return (
      event.text === reading.text &&
      event.confidence === (reading.confidence ?? null) &&
      (!reading.plateType || Boolean(entryId) || event.plateType === reading.plateType)
    );
  }
  return (
    event.text === null &&
    event.plateType === plate.plateType &&
    event.plateCode === plate.plateCode &&
    event.plateNumber === plate.plateNumber
  );
}
