// SQL expressions for sessions, by the alias of their table. Indexes use the expressions of `startOf` and `endOf`.

/**
 * SQL for the start of a session: the time at which the vehicle entered, was counted inside, or left without a recorded
 * entry.
 */
export const startOf = (session: string) =>
  `coalesce(${session}."enteredAt", ${session}."countedAt", ${session}."exitedAt")`;

/** SQL for the end of a session. Several columns are needed because releases up to 1.5 write no `endedAt`. */
export const endOf = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", TIMESTAMPTZ 'infinity')`;

/**
 * The SQL condition that a session is open now: the session has not ended, and its longest stay is not over. The
 * condition uses the database clock, so that all processes agree.
 */
export const isInside = (session: string) =>
  `(${session}.open AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > now()))`;

/** The SQL condition that an observation of a session is missing or has not happened yet. */
export const isUncertain = (session: string) =>
  `(${session}."enteredAt" IS NULL OR ${session}."exitedAt" IS NULL OR ${session}."staysUntil" < ${session}."exitedAt")`;

/** The SQL condition that a session was open at a time, for sessions that had not ended before that time. */
export const wasOpenAt = (session: string, at: string) =>
  `(${startOf(session)} <= ${at} AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > ${at}))`;
