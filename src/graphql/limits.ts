// The limits of one GraphQL request. GraphiQL's introspection query is the largest common document, and is within them.

/** Characters of a document. Documents are kept in memory, and long strings belong in variables. */
export const maxDocumentCharacters = 20_000;

/** Lexical tokens of a document. */
export const maxDocumentTokens = 1500;

/** Fields and fragment spreads of an operation. The fields of a fragment count again for each spread. */
export const maxSelections = 300;

/** Aliases, including aliases of `__typename`. Each alias can repeat a field with other arguments. */
export const maxAliases = 30;

/** Directives. The executor looks up each directive for each field. */
export const maxDirectives = 50;

/** Levels of nesting of a document. Introspection needs 14. */
export const maxDocumentDepth = 15;

/**
 * Cost of an operation: the sum of its fields' costs, each multiplied by the sizes of the pages around the field
 * (docs/contract.md#cost-of-a-request).
 */
export const maxCost = 10_000;

/** The cost that each point of a request pays for. */
export const costPerPoint = 2_000;

/** A query up to this cost runs at once. Others wait for a slot. A page of 20 entries with every field costs 300. */
export const maxLightCost = 500;

/** Root mutation fields in one request. */
export const maxRootMutationFields = 10;

/** Values in the variables, including the values in lists and objects. An import of 10,000 full rows fits. */
export const maxVariableValues = 150_000;

/** Levels of nesting of the variables. Free JSON has at most 10. Functions that read a value recurse into each level. */
export const maxVariableDepth = 40;

/** Faults in the variables that are described. Describing a fault costs more than processing the row that contains it. */
export const maxVariableFaults = 100;

/** Errors that are reported for one document. */
export const maxDocumentErrors = 20;
