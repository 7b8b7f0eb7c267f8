import { plateTexts, samePlate } from '../whitelist/columns.ts';
import { confusableForm } from '../whitelist/similar-plates.ts';
import { isInside } from './session-columns.ts';

// SQL for the vehicles of a reference inside. A vehicle counts for the reference of its current whitelist entry, even
// if another whitelist entry applied when the vehicle entered.

/** SQL for the whitelist entries `v` of a reference with their open sessions `s`. */
const entriesAndSessions = (ofReference: string, condition: string) => `
  SELECT v.id AS "entryId", s.id AS "sessionId" FROM "WhitelistEntry" v
  JOIN "ParkingSession" s ON s."locationId" = v."locationId" AND ${isInside('s')} AND ${condition}
  WHERE ${ofReference}`;

/**
 * SQL for the number of whitelist entries that match the text of a session of `v`. An index of plate numbers finds the
 * entries, because a text ends with the plate number. The subquery refers to `v`, so that PostgreSQL reads only the
 * sessions of the reference.
 */
const entriesOfText = `(
    SELECT count(*) FROM "WhitelistEntry" w WHERE w."locationId" = v."locationId"
      AND w."plateNumber" = ANY (ARRAY(SELECT right(s."plateNumber", digits) FROM generate_series(1, 20) digits))
      AND s."plateNumber" IN (${plateTexts('w').join(', ')}) AND s."plateType" IN ('', w."plateType"))`;

/** SQL for a plate in a form in which confusable characters are equal. */
const confusablePlate = (table: string) =>
  confusableForm(`${table}."plateType" || ${table}."plateCode" || ${table}."plateNumber"`);

/**
 * SQL for the vehicles of a reference inside, as rows of `entryId` and `sessionId`. A whitelist entry can occur more
 * than once. A session belongs to an entry if one of these holds:
 *
 * - the session has the plate of the entry;
 * - the entry is the only entry that matches the text that a camera read;
 * - the gate named the entry, the plate of the session is not listed, and a camera may confuse that plate with the
 *   plate of the entry.
 *
 * @param ofReference the condition that an entry `v` has the reference
 */
export const vehiclesOf = (ofReference: string) =>
  [
    samePlate('s', 'v'),
    // Two separate equalities replace an OR, so that each equality can use an index or a hash.
    ...plateTexts('v').map(
      (text) => `s."plateCode" = '' AND s."plateNumber" = ${text} AND s."plateType" IN ('', v."plateType")
    AND ${entriesOfText} = 1`,
    ),
    `s."whitelistEntryId" = v.id AND ${confusablePlate('s')} = ${confusablePlate('v')} AND NOT EXISTS (
      SELECT FROM "WhitelistEntry" w WHERE w."locationId" = s."locationId" AND w.id <> v.id AND ${samePlate('w', 's')})`,
  ]
    .map((condition) => entriesAndSessions(ofReference, condition))
    .join('\n  UNION ALL');
