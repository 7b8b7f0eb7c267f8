import { complexityFromQuery } from '@pothos/plugin-complexity';
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  isValueNode,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
  type ValidationRule,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { invalidField, ServiceError } from './errors.ts';
import type { OperationPlan } from './operation.ts';
import { fieldName } from './validation.ts';

/** What one operation may ask for. GraphiQL's introspection, the largest honest document, fits. */
export const operationLimits = {
  /** Characters of a document: documents are kept in memory, long strings belong into variables. */
  characters: 20_000,
  /** Lexical tokens of a document. */
  tokens: 1500,
  /** Fields and fragment spreads after fragments are spread, repeated ones included. */
  selections: 300,
  /** Aliases, of `__typename` too: each may repeat a field with other arguments. */
  aliases: 30,
  /** Directives; each is looked at for each field. */
  directives: 50,
  /** Levels of nesting; introspection takes 14. */
  depth: 15,
  /** Points: one for each field, multiplied by the sizes of the pages around it. */
  cost: 50_000,
  /** Changes in one request. */
  rootMutationFields: 10,
  /** Values in the variables, those in lists and objects included: an import of 10,000 full rows fits. */
  variableValues: 150_000,
  /** Levels of nesting in the variables: free JSON may have 32, and what reads a value follows it down. */
  variableDepth: 40,
  /** Faults in the variables: each is put into words, which costs more than the row that it is in. */
  variableFaults: 100,
  /** Errors that are listed for one document. */
  errors: 20,
};

/** Rules for documents; what depends on variables is `requireAffordable`. */
const documentRules = [
  maxAliasesRule({ n: operationLimits.aliases, allowList: [] }),
  maxDirectivesRule({ n: operationLimits.directives }),
  maxDepthRule({ n: operationLimits.depth, ignoreIntrospection: false, flattenFragments: true }),
] as unknown as readonly ValidationRule[];

/**
 * Validates a document by the rules of GraphQL and by the limits, at a cost that its length bounds: the
 * number of selections is known before any rule follows fragments into fragments.
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
): readonly GraphQLError[] {
  const selections = countSelections(document);
  if (selections > operationLimits.selections) {
    return [new GraphQLError(`Document selects more than ${operationLimits.selections} fields`)];
  }
  try {
    const options = { maxErrors: operationLimits.errors };
    return validate(schema, document, [...rules, ...documentRules], options).map((error) =>
      namingField(error, document),
    );
  } catch (error) {
    // The limits of GraphQL Armor are thrown, not reported.
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** An error about a value that is written in the document, with the field that has it, as variables get. */
function namingField(error: GraphQLError, document: DocumentNode): GraphQLError {
  const [faulty] = error.nodes ?? [];
  if (!faulty || !isValueNode(faulty)) return error;
  const names: string[] = [];
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== faulty) return undefined;
      for (const holder of [...ancestors, parent]) {
        if (!holder || !('kind' in holder)) continue;
        if (holder.kind === Kind.ARGUMENT || holder.kind === Kind.OBJECT_FIELD) names.push(holder.name.value);
      }
      return BREAK;
    },
  });
  if (names.length === 0) return error;
  // graphql-js names a missing field in its words alone.
  const [, absent] = /^Field "\w+\.(\w+)" of required type/.exec(error.message) ?? [];
  const field = fieldName([...names, ...(absent ? [absent] : [])]);
  const originalError = absent
    ? invalidField(field, `Missing required field: ${field}`, undefined)
    : invalidField(field, error.message, valueFromASTUntyped(faulty));
  return new GraphQLError(originalError.message, { nodes: error.nodes, originalError });
}

/** The most selections of the operations together, or of a fragment, with every spread counted. */
function countSelections(document: DocumentNode): number {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.selectionSet] as const] : [],
    ),
  );
  const counts = new Map<string, number>();

  function countFragment(name: string): number {
    const known = counts.get(name);
    const selectionSet = fragments.get(name);
    if (known !== undefined || !selectionSet) return known ?? 0;
    counts.set(name, 0); // what leads back here is a cycle, which a rule of GraphQL reports
    const counted = count(selectionSet);
    counts.set(name, counted);
    return counted;
  }

  function count({ selections }: SelectionSetNode): number {
    return selections.reduce((total, selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return total + 1 + countFragment(selection.name.value);
      return total + 1 + (selection.selectionSet ? count(selection.selectionSet) : 0);
    }, 0);
  }

  const ofOperations = document.definitions.reduce(
    (total, node) => total + (node.kind === Kind.OPERATION_DEFINITION ? count(node.selectionSet) : 0),
    0,
  );
  // Rules look into fragments that no operation spreads, too.
  return Math.max(ofOperations, ...[...fragments.keys()].map(countFragment));
}

/**
 * Parses a document that is not too long.
 *
 * @throws {GraphQLError} for a syntax error, and for a document over the limits
 */
export function parseDocument(text: string): DocumentNode {
  if (text.length > operationLimits.characters) {
    throw new GraphQLError(`Document has more than ${operationLimits.characters} characters; use variables`);
  }
  return parse(text, { maxTokens: operationLimits.tokens });
}

/** What operations cost whose pages are written in the document, so that each costs the same for good. */
const fixedCosts = new WeakMap<OperationPlan, number>();

function costOf(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Readonly<Record<string, unknown>>,
  context: object,
): number {
  const known = fixedCosts.get(plan);
  if (known !== undefined) return known;
  const { complexity } = complexityFromQuery(plan.document, {
    schema,
    variables: { ...variables },
    ctx: context,
  });
  if (!plan.variablePages) fixedCosts.set(plan, complexity);
  return complexity;
}

/**
 * Counts the values in the variables, those in lists and objects included.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for more than the limits, before counting costs much
 */
export function countValues(value: unknown, levels = operationLimits.variableDepth, counted = 0): number {
  const { variableValues, variableDepth } = operationLimits;
  if (levels < 0) {
    throw new ServiceError('VALIDATION_ERROR', `Variables are nested more than ${variableDepth} levels`);
  }
  if (counted >= variableValues) {
    throw new ServiceError('VALIDATION_ERROR', `Variables hold more than ${variableValues} values`);
  }
  let total = counted + 1;
  if (typeof value !== 'object' || value === null) return total;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total = countValues(item, levels - 1, total);
  }
  return total;
}

/**
 * Lets an operation pass whose cost, with the page sizes that its variables ask for, is within the limit.
 *
 * @throws {ServiceError} `VALIDATION_ERROR`
 * @throws {GraphQLError} when the variables do not fit their types
 */
export function requireAffordable(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Readonly<Record<string, unknown>>,
  context: object,
): void {
  const { rootMutationFields, cost } = operationLimits;
  if (plan.operation.operation === 'mutation' && plan.rootFields.length > rootMutationFields) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `A request may have at most ${rootMutationFields} root mutation fields`,
    );
  }
  const asked = costOf(schema, plan, variables, context);
  if (asked > cost) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `Query costs ${asked} points; at most ${cost} are allowed. Ask for smaller pages.`,
    );
  }
}
