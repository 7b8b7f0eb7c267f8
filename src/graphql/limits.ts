// The limits of one GraphQL request. They are high enough for the introspection query of GraphiQL, which is the largest
// common document.

/**
 * The maximum length of a document in characters. The process keeps documents in memory. Clients can send long strings
 * in variables instead.
 */
export const maxDocumentCharacters = 20_000;

/** The maximum number of tokens, such as names and brackets, in a document. */
export const maxDocumentTokens = 1500;

/**
 * The maximum number of fields and fragment spreads in an operation. If a fragment is used several times, its fields
 * count each time.
 */
export const maxSelections = 300;

/**
 * The maximum number of aliases in a document, including aliases of `__typename`. With aliases, a client can request
 * the same field many times.
 */
export const maxAliases = 30;

/**
 * The maximum number of directives in a document. The executor checks all directives of a field each time it processes
 * the field.
 */
export const maxDirectives = 50;

/** The maximum number of nesting levels in a document. Introspection needs 14 levels. */
export const maxDocumentDepth = 15;

/**
 * The maximum cost of an operation. The cost is the sum of the costs of its fields, each multiplied by the sizes of the
 * pages that contain the field (docs/contract.md#cost-of-a-request).
 */
export const maxCost = 10_000;

/** How much of an operation's cost one rate limit point covers. */
export const costPerPoint = 2_000;

/**
 * The maximum cost of a query that runs immediately. A more expensive query waits for a slot. A page of 20 entries with
 * every field costs 300.
 */
export const maxLightCost = 500;

/** The maximum number of root fields in a mutation. */
export const maxRootMutationFields = 10;

/**
 * The maximum number of values in the variables, including values inside lists and objects. An import of 10,000 rows
 * with all fields is within this limit.
 */
export const maxVariableValues = 150_000;

/**
 * The maximum number of nesting levels in the variables. Functions that read a value call themselves for each level, so
 * deep values could exhaust the stack. JSON fields with free content allow 10 levels.
 */
export const maxVariableDepth = 40;

/**
 * The maximum number of faults in the variables that the gateway describes. Describing a fault takes more time than
 * processing a row.
 */
export const maxVariableFaults = 100;

/** The maximum number of errors that the gateway reports for one document. */
export const maxDocumentErrors = 20;
