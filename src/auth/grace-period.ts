/**
 * The default time for which the old secret of an API key or webhook stays valid after a rotation, in seconds: one day.
 */
export const defaultGraceSeconds = 86_400;

/**
 * The maximum time for which the old secret of an API key or webhook can stay valid after a rotation, in seconds: 30
 * days.
 */
export const maxGraceSeconds = 30 * 86_400;
