/**
 * The error when the database cannot be used. The message names the environment variable to correct and its allowed
 * values. The error is shown without a stack trace.
 */
export class DatabaseStartError extends Error {}
