// SQL expressions for the times and the state of sessions. The argument of each function is the alias of the table.
// Database indexes use the expressions of `startOf` and `endOf`.

/**
 * SQL for the start of a session: the time at which the vehicle entered, was counted inside, or left without a recorded
 * entry.
 */
export const startOf = (session: string) =>
  `coalesce(${session}."enteredAt", ${session}."countedAt", ${session}."exitedAt")`;

/** SQL for the end of a session. It uses several columns, because releases up to 1.5 do not write `endedAt`. */
export const endOf = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", TIMESTAMPTZ 'infinity')`;

/**
 * The SQL condition that a session is open now: the session has not ended, and its maximum stay is not over. The
 * condition uses the clock of the database, so that all processes agree.
 */
export const isInside = (session: string) =>
  `(${session}.open AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > now()))`;

/**
 * The SQL condition that the entry or the exit of a session is not recorded, or that the vehicle left after its maximum
 * stay.
 */
export const isUncertain = (session: string) =>
  `(${session}."enteredAt" IS NULL OR ${session}."exitedAt" IS NULL OR ${session}."staysUntil" < ${session}."exitedAt")`;

/** The SQL condition that a session was open at a given time. The session must not have ended before that time. */
export const wasOpenAt = (session: string, at: string) =>
  `(${startOf(session)} <= ${at} AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > ${at}))`;
