/** How long the old secret of a key or webhook stays valid after a rotation by default, in seconds: one day. */
export const defaultGraceSeconds = 86_400;

/** How long the old secret of a key or webhook can stay valid after a rotation at most, in seconds: 30 days. */
export const maxGraceSeconds = 30 * 86_400;
