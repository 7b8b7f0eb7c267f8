/**
 * The error that is thrown when the gateway starts and cannot use the database. The message of a `DatabaseStartError`
 * names the environment variable that the operator must correct, and its allowed values. The gateway shows a
 * `DatabaseStartError` without a stack trace.
 */
export class DatabaseStartError extends Error {}
