// The limits of one GraphQL request. The limits of a GraphQL request allow the introspection query of GraphiQL, which
// is the largest common document.

/**
 * The maximum length of a GraphQL document in characters. The length of a GraphQL document is limited, because the
 * gateway process caches documents in memory. Clients can send long strings in variables instead of in the document.
 */
export const maxDocumentCharacters = 20_000;

/** The maximum number of tokens, such as names and brackets, in a GraphQL document. */
export const maxDocumentTokens = 1500;

/**
 * The maximum number of selections (fields, fragment spreads and inline fragments) in all operations of a GraphQL
 * document together. If a fragment is used several times, its selections count each time.
 */
export const maxSelections = 300;

/**
 * The maximum number of aliases in a GraphQL document, including aliases of `__typename`. The number of aliases is
 * limited, because a client can use aliases to request the same field many times.
 */
export const maxAliases = 30;

/**
 * The maximum number of directives in a GraphQL document. The number of directives is limited, because the executor
 * checks all directives of a field each time it processes the field.
 */
export const maxDirectives = 50;

/** The maximum number of nesting levels in a GraphQL document. An introspection query needs 14 nesting levels. */
export const maxDocumentDepth = 15;

/**
 * The maximum cost of a GraphQL operation. The cost of an operation is the sum of the costs of its fields. If a list
 * has pages, the gateway multiplies the cost of each field of a list item by the page size
 * (docs/contract-keys.md#cost-of-a-request).
 */
export const maxCost = 10_000;

/**
 * The cost that one rate limit point covers. An operation whose cost is above `costPerPoint` uses several points: its
 * cost divided by `costPerPoint`, rounded up.
 */
export const costPerPoint = 2_000;

/**
 * The maximum cost of a query that the gateway runs without delay. A query with a higher cost is heavy, and the gateway
 * limits how many heavy queries run at the same time. A query with a cost above `maxLightCost` may therefore have to
 * wait until a slot for heavy queries is free. For example, a query for all fields of 20 whitelist entries has a cost
 * of about 300, so this query runs immediately.
 */
export const maxLightCost = 500;

/** The maximum number of root fields in a GraphQL mutation. */
export const maxRootMutationFields = 10;

/**
 * The maximum number of nesting levels in the variables of a request. The functions that read the value of a GraphQL
 * variable are recursive, so a deeply nested value could cause a stack overflow. JSON fields with free content, such as
 * the company settings, allow only 10 nesting levels.
 */
export const maxVariableDepth = 40;

/**
 * The maximum number of faults in the variables of a request that one error response describes. The number of described
 * faults is limited, because describing one fault takes more time than importing one row.
 */
export const maxVariableFaults = 100;

/** The maximum number of errors that the gateway reports for one GraphQL document. */
export const maxDocumentErrors = 20;
