/** The default time for which the old secret of a key or webhook stays valid after a rotation, in seconds: one day. */
export const defaultGraceSeconds = 86_400;

/** The longest time for which an old secret can stay valid after a rotation, in seconds: 30 days. */
export const maxGraceSeconds = 30 * 86_400;
