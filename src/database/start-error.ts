/**
 * The error that is thrown when the gateway starts and cannot use the database. The message of a `DatabaseStartError`
 * names the environment variable or the migration that causes the error. The gateway prints a `DatabaseStartError`
 * without a stack trace.
 */
export class DatabaseStartError extends Error {}
