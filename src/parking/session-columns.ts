import { confusableForm } from '../whitelist/similar-plates.ts';

// SQL expressions for the times, the state and the plates of parking sessions. Each function in this file takes a table
// alias as its argument. Database indexes use the SQL expressions that the functions `startOf`, `endOf` and `familyOf`
// return.

/**
 * An SQL expression for the start of a parking session. The session starts at the entry of the vehicle, or when an
 * occupancy count says that the vehicle is inside. If the gateway knows neither an entry nor an occupancy count, the
 * session starts at the recorded exit.
 */
export const startOf = (session: string) =>
  `coalesce(${session}."enteredAt", ${session}."countedAt", ${session}."exitedAt")`;

/**
 * SQL for the time at which a parking session ended, or `infinity` for a session that has not ended. If the column
 * `endedAt` is null, the SQL uses `exitedAt`, because releases of the gateway up to 1.5 do not write `endedAt`.
 */
export const endOf = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", TIMESTAMPTZ 'infinity')`;

/**
 * The SQL condition for sessions that are open now: the session has not ended, and its maximum stay is not over. The
 * SQL uses the clock of the database, so that all processes get the same result.
 */
export const isInside = (session: string) =>
  `(${session}.open AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > now()))`;

/**
 * The SQL condition for uncertain sessions: the entry or the exit is not recorded, or the vehicle left after the
 * maximum stay.
 */
export const isUncertain = (session: string) =>
  `(${session}."enteredAt" IS NULL OR ${session}."exitedAt" IS NULL OR ${session}."staysUntil" < ${session}."exitedAt")`;

/**
 * The SQL condition for sessions that had begun and were within their maximum stay at a given time. `wasOpenAt` does
 * not check whether the parking session had already ended at the given time. An SQL statement that uses `wasOpenAt` to
 * find open sessions must therefore exclude ended sessions with a separate condition.
 */
export const wasOpenAt = (session: string, at: string) =>
  `(${startOf(session)} <= ${at} AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > ${at}))`;

/** The SQL condition for sessions that had begun, had not ended and were within their maximum stay at a given time. */
export const isOpenAt = (session: string, at: string) =>
  `(${endOf(session)} > ${at} AND ${wasOpenAt(session, at)})`;

/**
 * SQL for the plate family of a plate, which means the last two characters of its plate code and plate number together.
 * Characters that cameras confuse count as the same character (`confusableForm`). Two plates that cameras may confuse
 * are always in the same plate family, but unrelated plates can also be in this plate family.
 */
export const familyOf = (alias: string) =>
  confusableForm(`right(${alias}."plateCode" || ${alias}."plateNumber", 2)`);
