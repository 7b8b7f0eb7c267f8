// What one request to the graph may ask for. GraphiQL's introspection is the largest usual document, and fits.

/** Characters of a document: documents are kept in memory, and long strings belong into variables. */
export const maxDocumentCharacters = 20_000;

/** Lexical tokens of a document. */
export const maxDocumentTokens = 1500;

/** Fields and fragment spreads of an operation once its fragments are spread; each spread counts again. */
export const maxSelections = 300;

/** Aliases, those of `__typename` included: each can repeat a field with other arguments. */
export const maxAliases = 30;

/** Directives: each is looked up for each field. */
export const maxDirectives = 50;

/** Levels of nesting of a document; introspection takes 14. */
export const maxDocumentDepth = 15;

/**
 * Cost of an operation: what each field costs, multiplied by the sizes of the pages around it (decisions, "what a
 * request costs").
 */
export const maxCost = 10_000;

/** How much cost the point of a request pays for, and each further point. */
export const costPerPoint = 2_000;

/** Cost up to which a query runs at once; others take turns. A page of 20 entries with every field costs 300. */
export const maxLightCost = 500;

/** Changes in one request. */
export const maxRootMutationFields = 10;

/** Values in the variables, those in lists and objects included: an import of 10,000 full rows fits. */
export const maxVariableValues = 150_000;

/** Levels of nesting of the variables: free JSON has 10 at most, and what reads a value follows it down. */
export const maxVariableDepth = 40;

/** Faults in the variables that are put into words: to word one costs more than the row that it is in. */
export const maxVariableFaults = 100;

/** Errors that are listed for one document. */
export const maxDocumentErrors = 20;
