import { complexityFromQuery } from '@pothos/plugin-complexity';
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
  type ValidationRule,
} from 'graphql';
import { ServiceError } from './errors.ts';
import type { OperationPlan } from './operation.ts';

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
    return validate(schema, document, [...rules, ...documentRules], { maxErrors: operationLimits.errors });
  } catch (error) {
    // The limits of GraphQL Armor are thrown, not reported.
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** Selections of all operations with fragments spread; a fragment is counted once, however often it is spread. */
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

  return document.definitions.reduce(
    (total, node) => total + (node.kind === Kind.OPERATION_DEFINITION ? count(node.selectionSet) : 0),
    0,
  );
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
