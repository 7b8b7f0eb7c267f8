/**
 * The database cannot be used. The message names the variable to correct and the allowed values. The message is shown
 * without a stack trace.
 */
export class DatabaseStartError extends Error {}
