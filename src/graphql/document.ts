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
  type ASTVisitor,
  validate,
  type ValidationContext,
  type ValidationRule,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import { fieldName } from '../errors/faults.ts';
import {
  maxAliases,
  maxDirectives,
  maxDocumentCharacters,
  maxDocumentDepth,
  maxDocumentErrors,
  maxDocumentTokens,
  maxSelections,
} from './limits.ts';

/** Rules for documents; what depends on variables is in cost.ts. */
const limitRules = [
  maxAliasesRule({ n: maxAliases, allowList: [] }),
  maxDirectivesRule({ n: maxDirectives }),
  maxDepthRule({ n: maxDocumentDepth, ignoreIntrospection: false, flattenFragments: true }),
  plainVariableNames,
] as unknown as readonly ValidationRule[];

/** Refuses variables such as `$constructor`: the executors keep variables in objects, which have such members. */
function plainVariableNames(context: ValidationContext): ASTVisitor {
  return {
    VariableDefinition(node) {
      const { name } = node.variable;
      if (!(name.value in Object.prototype)) return;
      context.reportError(
        new GraphQLError(`Variable "$${name.value}" must have another name.`, { nodes: name }),
      );
    },
  };
}

/** What graphql-js or a limit says of a document is meant for the client who wrote it. */
const documentFault = (error: GraphQLError) =>
  new ServiceError('VALIDATION_ERROR', error.message, undefined, error);

/**
 * Parses a document that is not too long.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a syntax error, and for a document over the limits
 */
export function parseDocument(text: string): DocumentNode {
  if (text.length > maxDocumentCharacters) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `Document has more than ${maxDocumentCharacters} characters; use variables`,
    );
  }
  try {
    return parse(text, { maxTokens: maxDocumentTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? documentFault(error) : error;
  }
}

/**
 * Validates a document by the rules of GraphQL and by the limits, at a cost that its length bounds: the
 * number of selections is known before any rule follows fragments into fragments.
 *
 * @returns the faults, each a `VALIDATION_ERROR`
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
): readonly ServiceError[] {
  if (countSelections(document) > maxSelections) {
    return [new ServiceError('VALIDATION_ERROR', `Document selects more than ${maxSelections} fields`)];
  }
  try {
    const options = { maxErrors: maxDocumentErrors };
    return validate(schema, document, [...rules, ...limitRules], options).map((error) =>
      namingField(error, document),
    );
  } catch (error) {
    // The limits of GraphQL Armor are thrown, not reported.
    if (error instanceof GraphQLError) return [documentFault(error)];
    throw error;
  }
}

/** An error about a value that is written in the document, with the field that has it, as variables get. */
function namingField(error: GraphQLError, document: DocumentNode): ServiceError {
  const [faulty] = error.nodes ?? [];
  if (!faulty || !isValueNode(faulty)) return documentFault(error);
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
  if (names.length === 0) return documentFault(error);
  // graphql-js names a missing field in its words alone.
  const [, absent] = /^Field "\w+\.(\w+)" of required type/.exec(error.message) ?? [];
  const field = fieldName([...names, ...(absent ? [absent] : [])]);
  const { message, details } = absent
    ? invalidField(field, `Missing required field: ${field}`, undefined)
    : invalidField(field, error.message, valueFromASTUntyped(faulty));
  return new ServiceError('VALIDATION_ERROR', message, details, error);
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
