/**
 * The database cannot be used. The message names the variable to look at and says what would be right; it is
 * shown without a stack.
 */
export class DatabaseStartError extends Error {}
