import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  isValueNode,
  Kind,
  parse,
  type SelectionSetNode,
  specifiedRules,
  type ASTVisitor,
  validate,
  type ValidationContext,
  type ValidationRule,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { invalidField, ServiceError, shown } from '../errors/error-table.ts';
import { fieldName } from '../errors/faults.ts';
import { fragmentsOf } from './fragments.ts';
import {
  maxAliases,
  maxDirectives,
  maxDocumentCharacters,
  maxDocumentDepth,
  maxDocumentErrors,
  maxDocumentTokens,
  maxSelections,
} from './limits.ts';

/**
 * The validation rules for documents: the rules of GraphQL, and the rules that limit the size of documents. The limits
 * that depend on the variables of a GraphQL request are in cost.ts.
 */
const rules = [
  ...specifiedRules,
  maxAliasesRule({ n: maxAliases, allowList: [] }),
  maxDirectivesRule({ n: maxDirectives }),
  maxDepthRule({ n: maxDocumentDepth, ignoreIntrospection: false, flattenFragments: true }),
  plainVariableNames,
] as unknown as readonly ValidationRule[];

/**
 * Rejects variables with names that have a special meaning in JavaScript, such as `$constructor`. The GraphQL executors
 * keep variables in JavaScript objects, which inherit properties with names such as `constructor`.
 */
function plainVariableNames(context: ValidationContext): ASTVisitor {
  return {
    VariableDefinition(node) {
      const { name } = node.variable;
      if (!(name.value in Object.prototype)) return;
      context.reportError(
        new GraphQLError(`The variable name "$${name.value}" is reserved; use another name.`, {
          nodes: name,
        }),
      );
    },
  };
}

/**
 * Converts an error about a client's document to a `ServiceError`. The client may see the error message, because the
 * message describes only the client's own document.
 */
const documentFault = (error: GraphQLError) =>
  new ServiceError('VALIDATION_ERROR', error.message, undefined, error);

/**
 * Parses a GraphQL document if its length and its number of tokens are within the limits.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for a syntax error, and for a document that exceeds the limits
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
 * Checks that a GraphQL document follows the rules of GraphQL and is within the limits of the gateway. Before the
 * gateway checks the rules of GraphQL, it rejects documents that have too many selections. Some of these rules also
 * check the fragments inside fragments, which takes very long in a document with too many selections.
 *
 * @returns the faults of the document, each as a `VALIDATION_ERROR`
 */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly ServiceError[] {
  if (countSelections(document) > maxSelections) {
    return [new ServiceError('VALIDATION_ERROR', `Document selects more than ${maxSelections} fields`)];
  }
  try {
    const options = { maxErrors: maxDocumentErrors };
    return validate(schema, document, rules, options).map((error) => namingField(error, document));
  } catch (error) {
    // The rules of GraphQL Armor throw their errors, while all other rules report their errors to the validation
    // context.
    if (error instanceof GraphQLError) return [documentFault(error)];
    throw error;
  }
}

/**
 * Matches the error messages of graphql-js about a missing argument, and about a missing field of an input object. The
 * regular expression reads the name of the missing argument or field from the message, because graphql-js does not
 * provide this name elsewhere.
 */
const missingInput =
  /^Field "\w+(?:" argument "|\.)(\w+)" of (?:required )?type .* (?:is required|was not provided)/;

/**
 * Converts an error about an argument or an input field in a GraphQL document to a `ServiceError` that contains the
 * name of the field.
 */
function namingField(error: GraphQLError, document: DocumentNode): ServiceError {
  const [faulty] = error.nodes ?? [];
  const [, absent] = missingInput.exec(error.message) ?? [];
  const isInput = faulty && (isValueNode(faulty) || faulty.kind === Kind.OBJECT_FIELD || absent);
  if (!isInput) return documentFault(error);
  const names: string[] = [];
  visit(document, {
    enter(node, _key, parent, _path, ancestors) {
      if (node !== faulty) return undefined;
      names.push(...inputNames([...ancestors, parent, node]));
      return BREAK;
    },
  });
  if (absent) names.push(absent);
  if (names.length === 0) return documentFault(error);
  const field = fieldName(names);
  const given = faulty.kind === Kind.OBJECT_FIELD ? faulty.value : faulty;
  const { message, details } = absent
    ? invalidField(field, `Missing required field: ${field}`, undefined)
    : invalidField(field, error.message, isValueNode(given) ? valueFromASTUntyped(given) : undefined);
  return new ServiceError('VALIDATION_ERROR', message, details, error);
}

/**
 * Returns the path of a value in a GraphQL document: the name of the argument, and the names of the input fields that
 * contain the value.
 *
 * @param ancestors the nodes that contain the value, in the format of the function `visit` of graphql-js
 */
export const inputNames = (ancestors: readonly (ASTNode | readonly ASTNode[] | undefined)[]): string[] =>
  ancestors.flatMap((node) => {
    const isInput =
      node && 'kind' in node && (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD);
    return isInput ? [node.name.value] : [];
  });

/**
 * Returns the error message for a request that does not clearly select one operation of its GraphQL document. Either
 * the document does not contain the requested operation, or the document has several operations and the request names
 * none of them.
 *
 * @param requested the parameter `operationName` of the request, which may have any JSON type
 */
export function missingOperation({ definitions }: DocumentNode, requested: unknown): string {
  const isMissing = requested === undefined || requested === null;
  if (!isMissing && typeof requested !== 'string') return 'The parameter operationName must be a string';
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const names = operations.flatMap(({ name }) => (name ? [name.value] : []));
  if (operations.length === 0) return 'The document has no operation';
  const fault = isMissing ? 'several operations' : `no operation "${String(shown(requested))}"`;
  const remedy =
    names.length > 0
      ? `set operationName to one of: ${String(shown(names.join(', ')))}`
      : 'omit operationName, and send only one operation';
  return `The document has ${fault}; ${remedy}`;
}

/**
 * Counts the selections of all operations in a document. If a fragment is used several times, its selections count each
 * time. For each fragment, the function also counts the selections inside this fragment. The function returns the
 * larger of two counts: the count of all operations together, and the count of the largest fragment.
 */
function countSelections(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const counts = new Map<string, number>();

  function countFragment(name: string): number {
    const known = counts.get(name);
    const selectionSet = fragments.get(name)?.selectionSet;
    if (known !== undefined || !selectionSet) return known ?? 0;
    counts.set(name, 0); // the value 0 prevents an endless recursion when an invalid fragment uses itself
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
  // The function also counts the selections of unused fragments, because the validation rules check unused fragments,
  // too.
  return Math.max(ofOperations, ...[...fragments.keys()].map(countFragment));
}
