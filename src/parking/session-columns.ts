// What statements say of sessions, as SQL on a table by its alias. Indexes have the expressions of `startOf` and `endOf`.

/** When a session begins: the vehicle entered, was counted inside, or left without having been seen before. */
export const startOf = (session: string) =>
  `coalesce(${session}."enteredAt", ${session}."countedAt", ${session}."exitedAt")`;

/** When something ended a session; releases up to 1.5 write no `endedAt`. */
export const endOf = (session: string) =>
  `coalesce(${session}."endedAt", ${session}."exitedAt", TIMESTAMPTZ 'infinity')`;

/**
 * The condition that a session is open now: nothing has ended it, and the longest stay is not over. By the clock of the
 * database, so that every process says the same.
 */
export const isInside = (session: string) =>
  `(${session}.open AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > now()))`;

/** The condition that something of a session was not seen, or has not happened yet. */
export const isUncertain = (session: string) =>
  `(${session}."enteredAt" IS NULL OR ${session}."exitedAt" IS NULL OR ${session}."staysUntil" < ${session}."exitedAt")`;

/** The condition that a session that had not ended at a time was open then. */
export const wasOpenAt = (session: string, at: string) =>
  `(${startOf(session)} <= ${at} AND (${session}."staysUntil" IS NULL OR ${session}."staysUntil" > ${at}))`;
