// The limits of one GraphQL request. The largest common document, GraphiQL's introspection query, is within these
// limits.

/**
 * The maximum length of a document in characters. Documents are kept in memory, and long strings belong in variables.
 */
export const maxDocumentCharacters = 20_000;

/** The maximum number of lexical tokens in a document. */
export const maxDocumentTokens = 1500;

/**
 * The maximum number of fields and fragment spreads in an operation. The fields of a fragment count again for each
 * spread.
 */
export const maxSelections = 300;

/**
 * The maximum number of aliases in a document, including aliases of `__typename`. Each alias can repeat a field with
 * other arguments.
 */
export const maxAliases = 30;

/** The maximum number of directives in a document. For each field, the executor looks up each directive. */
export const maxDirectives = 50;

/** The maximum number of nesting levels in a document. Introspection needs 14 levels. */
export const maxDocumentDepth = 15;

/**
 * The maximum cost of an operation: the sum of its fields' costs, each multiplied by the sizes of the pages around the
 * field (docs/contract.md#cost-of-a-request).
 */
export const maxCost = 10_000;

/** The cost that one rate limit point of a request pays for. */
export const costPerPoint = 2_000;

/**
 * The maximum cost of a query that runs at once. More expensive queries wait for a slot. A page of 20 entries with
 * every field costs 300.
 */
export const maxLightCost = 500;

/** The maximum number of root mutation fields in one request. */
export const maxRootMutationFields = 10;

/**
 * The maximum number of values in the variables, including values inside lists and objects. An import of 10,000 full
 * rows is within this limit.
 */
export const maxVariableValues = 150_000;

/**
 * The maximum number of nesting levels in the variables, because functions that read a value recurse into each level.
 * Free JSON has at most 10 levels.
 */
export const maxVariableDepth = 40;

/**
 * The maximum number of faults in the variables that are described. Describing a fault costs more than processing the
 * row that contains it.
 */
export const maxVariableFaults = 100;

/** The maximum number of errors that are reported for one document. */
export const maxDocumentErrors = 20;
