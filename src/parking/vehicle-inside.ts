import { plateTexts, samePlate } from '../whitelist/columns.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import { isInside } from './session-columns.ts';

// SQL that finds the vehicles of a reference, such as a parking unit, that are inside now. A vehicle belongs to the
// reference of its current whitelist entry, even if another whitelist entry applied when the vehicle entered.

/** SQL that combines the whitelist entries `v` of a reference with the open sessions `s` of their vehicles. */
const entriesAndSessions = (ofReference: string, condition: string) => `
  SELECT v.id AS "entryId", s.id AS "sessionId" FROM "WhitelistEntry" v
  JOIN "ParkingSession" s ON s."locationId" = v."locationId" AND ${isInside('s')} AND ${condition}
  WHERE ${ofReference}`;

/**
 * SQL for the number of whitelist entries that match the text stored in a session `s`. The text ends with the plate
 * number, so an index of plate numbers finds the entries. The subquery refers to the entry `v`, so PostgreSQL runs it
 * only for sessions of the reference.
 */
const entriesOfText = `(
    SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = v."locationId"
      AND w."plateNumber" = ANY (ARRAY(SELECT right(s."plateNumber", digits) FROM generate_series(1, 20) digits))
      AND s."plateNumber" IN (${plateTexts('w').join(', ')}) AND s."plateType" IN ('', w."plateType"))`;

/** SQL for the text of a plate with the same character for all characters that cameras confuse. */
const confusablePlate = (table: string) =>
  confusableForm(`${table}."plateType" || ${table}."plateCode" || ${table}."plateNumber"`);

/**
 * SQL for the vehicles of a reference that are inside, as rows with `entryId` and `sessionId`. A whitelist entry can
 * occur in several rows. A session belongs to a whitelist entry in three cases:
 *
 * - the session has the plate of the entry;
 * - the session has the text that a camera read, and the entry is the only entry that matches the text;
 * - the gate named the entry, the plate of the session is not listed, and a camera may confuse that plate with the
 *   plate of the entry.
 *
 * @param ofReference the condition that an entry `v` has the reference
 */
export const vehiclesOf = (ofReference: string) =>
  [
    samePlate('s', 'v'),
    // Each text has its own query instead of an OR condition, so that PostgreSQL can use an index or a hash join for
    // each text.
    ...plateTexts('v').map(
      (text) => `s."plateCode" = '' AND s."plateNumber" = ${text} AND s."plateType" IN ('', v."plateType")
    AND ${entriesOfText} = 1`,
    ),
    `s."whitelistEntryId" = v.id AND ${confusablePlate('s')} = ${confusablePlate('v')} AND NOT EXISTS (
      SELECT FROM "WhitelistEntry" w WHERE w."locationId" = s."locationId" AND w.id <> v.id AND ${samePlate('w', 's')})`,
  ]
    .map((condition) => entriesAndSessions(ofReference, condition))
    .join('\n  UNION ALL');
