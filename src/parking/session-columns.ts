// SQL expressions for sessions, by the alias of their table. Indexes use the expressions of `startOf` and `endOf`.

/** The start of a session: the vehicle entered, was counted inside, or left without a recorded entry. */
export const startOf = (session: string) =>
  `coalesce(${session}."enteredAt", ${session}."countedAt", ${session}."exitedAt")`;

/** The end of a session. Releases up to 1.5 write no `endedAt`. */
export const endOf = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", TIMESTAMPTZ 'infinity')`;

/**
 * The condition that a session is open now: it has not ended, and the longest stay is not over. It uses the clock of
 * the database, so that all processes agree.
 */
export const isInside = (session: string) =>
  `(${session}.open AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > now()))`;

/** The condition that an observation of a session is missing or has not happened yet. */
export const isUncertain = (session: string) =>
  `(${session}."enteredAt" IS NULL OR ${session}."exitedAt" IS NULL OR ${session}."staysUntil" < ${session}."exitedAt")`;

/** The condition that a session that had not ended before a time was open at that time. */
export const wasOpenAt = (session: string, at: string) =>
  `(${startOf(session)} <= ${at} AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > ${at}))`;
