import { plateTexts, samePlate } from '../whitelist/columns.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import { isInside } from './session-columns.ts';

// SQL that finds the vehicles that are inside now and belong to a reference (such as an apartment). A vehicle belongs
// to the reference (such as an apartment) of its current whitelist entry, even if another whitelist entry applied when
// the vehicle entered.

/** The SQL condition that a parking session `s` and a whitelist entry `v` belong to the same location. */
const ofLocation = 's."locationId" = v."locationId"';

/**
 * SQL that joins the whitelist entries `v` of one reference (such as an apartment) with the open parking sessions `s`
 * of their vehicles. The argument `condition` must limit the parking sessions to the location of the whitelist entry.
 */
const entriesAndSessions = (ofReference: string, condition: string) => `
  SELECT v.id AS "entryId", s.id AS "sessionId", s."plateType", s."plateCode", s."plateNumber"
  FROM "WhitelistEntry" v
  JOIN "ParkingSession" s ON ${isInside('s')} AND ${condition}
  WHERE ${ofReference}`;

/**
 * SQL for the number of whitelist entries that match the camera text of a parking session `s` (the plate text that a
 * camera read). Every camera text ends with a plate number, so PostgreSQL looks up the ends of the camera text in an
 * index of plate numbers. The SQL compares the location of the whitelist entry `v`, and not the location of the parking
 * session. PostgreSQL therefore first selects the whitelist entries of the given reference (such as an apartment). Only
 * for the parking sessions of these entries does it count the matching whitelist entries.
 */
const entriesOfText = `(
    SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = v."locationId"
      AND w."plateNumber" = ANY (ARRAY(SELECT right(s."plateNumber", digits) FROM generate_series(1, 20) digits))
      AND s."plateNumber" IN (${plateTexts('w').join(', ')}) AND s."plateType" IN ('', w."plateType"))`;

/**
 * SQL for the text of a plate. In this text, one common character stands for all characters that cameras confuse with
 * each other.
 */
const confusablePlate = (table: string) =>
  confusableForm(`${table}."plateType" || ${table}."plateCode" || ${table}."plateNumber"`);

/**
 * The SQL condition for parking events that may belong to the vehicle of a whitelist entry. The condition is true if
 * cameras may confuse the plate of the event with the plate of the entry. The condition is also true if the camera text
 * of the parking event differs from the plate of the event. The caller must also check that the event and the entry
 * belong to the same plate family (`familyOf`). The last two characters of a plate define its plate family.
 */
export const mayBeSameVehicle = (event: string, entry: string) => {
  const textsOf = (table: string) => `ARRAY[${plateTexts(table).map(confusableForm).join(', ')}]`;
  const read = confusableForm(`translate(${event}.text, ' .-', '')`);
  return `(${textsOf(event)} && ${textsOf(entry)}
    OR (${event}."plateCode" <> '' AND ${read} <> ALL (${textsOf(event)})))`;
};

/**
 * SQL that returns the vehicles that are inside and belong to a given reference (such as an apartment). The result
 * columns are `entryId`, `sessionId` and the plate of the session. If several parking sessions belong to one whitelist
 * entry, the SQL returns one row for each of these sessions.
 *
 * A parking session belongs to a whitelist entry in each of the following cases:
 *
 * - The session has the plate of the entry.
 * - The session has only a camera text (the plate text that a camera read) instead of a plate, and this entry is the
 *   only entry that matches the text.
 * - The column `whitelistEntryId` of the session contains the id of the entry. This case has two more conditions:
 *   cameras may confuse the plate of the session with the plate of the entry, and no whitelist entry has the plate of
 *   the session.
 *
 * @param ofReference the SQL condition that selects the whitelist entries `v` with one reference, such as the entries
 *   of one apartment
 */
export const vehiclesOf = (ofReference: string) =>
  [
    `${ofLocation} AND ${samePlate('s', 'v')}`,
    // A camera can read one plate as two different texts, with or without the plate type. The SQL has a separate query
    // for each of these two texts. PostgreSQL can use an index or a hash join for each of the two separate queries, but
    // not for a single query with an OR condition.
    ...plateTexts('v').map(
      (
        text,
      ) => `${ofLocation} AND s."plateCode" = '' AND s."plateNumber" = ${text} AND s."plateType" IN ('', v."plateType")
    AND ${entriesOfText} = 1`,
    ),
    // This SQL condition does not compare the locations (`ofLocation`), because a parking session and its whitelist
    // entry always have the same location. With the additional condition `ofLocation`, the embedded database would read
    // all open parking sessions of the location, and would not use the index of `whitelistEntryId`. The embedded
    // database would choose this slow query plan because it has no statistics about its tables.
    `s."whitelistEntryId" = v.id AND NOT (${samePlate('s', 'v')}) AND ${confusablePlate('s')} = ${confusablePlate('v')}
    AND NOT EXISTS (SELECT FROM "WhitelistEntry" w WHERE w."locationId" = s."locationId" AND ${samePlate('w', 's')})`,
  ]
    .map((condition) => entriesAndSessions(ofReference, condition))
    .join('\n  UNION ALL');

/**
 * SQL that returns the number of vehicles that are inside and belong to a given reference (such as an apartment). A
 * whitelist entry counts as at most one vehicle, even if it has several open sessions.
 */
export const vehiclesInside = (
  { locationId, referenceId }: { locationId: string; referenceId: string },
  otherThan = 'true',
) => `(
  SELECT count(DISTINCT inside."entryId")::int
  FROM (${vehiclesOf(`v."locationId" = ${locationId} AND v."referenceId" = ${referenceId} AND ${otherThan}`)}) inside)`;
