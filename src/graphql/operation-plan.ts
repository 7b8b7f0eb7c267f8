import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import {
  type DocumentNode,
  type FieldNode,
  type FloatValueNode,
  getNamedType,
  getNullableType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLSchema,
  type IntValueNode,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type ObjectValueNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  type ValueNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { type ErrorCode, ServiceError } from '../errors/error-table.ts';
import { fieldName } from '../errors/faults.ts';
import { isExact } from '../json/exact-numbers.ts';
import { inputNames, missingOperation } from './document.ts';
import { optionsOf } from './field-options.ts';

/** Maps the name of each variable in a request to the value of the variable. */
export type Variables = Readonly<Record<string, unknown>>;

/**
 * Returns the value of a variable that the client sent, or undefined if the client did not send the variable. The
 * function ignores properties that a JavaScript object inherits, such as `constructor`.
 */
export const sentValue = (variables: Variables, name: string): unknown =>
  Object.hasOwn(variables, name) ? variables[name] : undefined;

/** A variable that is the complete value of an argument of a root field, such as `$id` in `location(id: $id)`. */
export interface VariableArgument {
  variable: string;
  argument: GraphQLArgument;
  /**
   * The name of the root field in the response: the alias of the field, or the field name if the field has no alias.
   */
  responseKey: string;
}

/**
 * A variable inside an object literal, such as `$name` in `settings: { name: $name }`. This object literal is the value
 * of a JSON argument or of a JSON input field.
 */
interface LiteralVariable {
  literal: ObjectValueNode;
  /** The name of the JSON argument or of the JSON input field, for the error message. */
  field: string;
  /**
   * The default value of the variable, but only if it contains a number that the gateway cannot store exactly.
   * Otherwise `undefined`.
   */
  inexactDefault: ValueNode | undefined;
}

/**
 * The properties of an operation that the executor needs before it runs the operation. The executor creates the plan of
 * a GraphQL operation only once, and stores the plan together with the parsed document.
 */
export interface OperationPlan {
  /** A document that contains only this operation and the fragments that the operation uses. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** The permissions that the fields of the operation require. */
  permissions: ReadonlySet<Permission>;
  /** The error codes that the fields of the operation declare in their `errors` option. */
  errorCodes: ReadonlySet<ErrorCode>;
  /**
   * The names of the root fields of the GraphQL operation, without aliases. In logs and usage records, the name of an
   * operation contains the names of its root fields (see `operationName`).
   */
  rootFields: readonly string[];
  /** Whether the cost of the operation depends on variables, for example on a page size or the length of a list. */
  hasVariableCost: boolean;
  /**
   * Whether the operation contains a field with the option `isHeavy`. A query with an `isHeavy` field counts as heavy
   * even if its cost is low. Only a limited number of heavy queries run at the same time.
   */
  hasHeavyField: boolean;
  /**
   * Whether graphql-jit may compile the operation. The gateway does not compile an operation with one of the following
   * parts, because graphql-jit would run the operation differently from graphql-js:
   *
   * - An object literal for a JSON argument. graphql-jit loses variables in the object literal, and properties such as
   *   `__proto__`.
   * - A variable inside an object literal. If the client sends no value for the variable, graphql-jit uses null as its
   *   value.
   * - A non-null variable with a default value. graphql-jit ignores the default value.
   * - `@skip` or `@include`. If one use of a fragment has `@skip` or `@include`, graphql-jit applies the condition to
   *   all uses of the fragment.
   */
  isCompilable: boolean;
  variableArguments: readonly VariableArgument[];
  /**
   * Describes each variable that is inside an object literal for a JSON argument. The keys of the map are the names of
   * the variables. If a variable is in several object literals, the map describes only its first use.
   */
  literalVariables: ReadonlyMap<string, LiteralVariable>;
  /**
   * The nullable variables that the document uses where the schema does not allow null. GraphQL permits this use of a
   * nullable variable if the variable has a default value. For such a variable, the executor must still reject the
   * value null (GraphQL, 5.8.5).
   */
  requiredVariables: ReadonlySet<string>;
  /**
   * The data from which the gateway computes how many rate limit points a list of rows costs, such as the rows of an
   * import. The array has one item for each list of rows in an argument of a root field.
   */
  rowCharges: readonly RowCharge[];
}

/** A list of rows in an argument of a root field. Its rate limit points depend on the number of rows. */
interface RowCharge {
  field: FieldNode;
  rows: ValueNode;
  /** The number of rows that a client can send for one rate limit point. */
  rowsPerPoint: number;
}

/**
 * Creates the plan of a GraphQL operation, which contains for example its root fields and required permissions. The
 * document of the operation must be valid.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the document does not contain the requested operation
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): OperationPlan {
  const operation = getOperationAST(document, operationName);
  if (!operation) throw new ServiceError('VALIDATION_ERROR', missingOperation(document, operationName));
  const permissions = new Set<Permission>();
  const errorCodes = new Set<ErrorCode>();
  const rootFields: string[] = [];
  const variableArguments: VariableArgument[] = [];
  const literalVariables = new Map<string, LiteralVariable>();
  const rowCharges: RowCharge[] = [];
  const requiredVariables = new Set<string>();
  const isNonNull = (variable: string) =>
    operation.variableDefinitions?.some(
      (definition) =>
        definition.variable.name.value === variable && definition.type.kind === Kind.NON_NULL_TYPE,
    );
  let hasVariableCost = false;
  let isCompilable = true;
  let hasHeavyField = false;
  const rootType = schema.getRootType(operation.operation);
  const typeInfo = new TypeInfo(schema);
  const alone = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    alone,
    visitWithTypeInfo(typeInfo, {
      Variable({ name }, _, __, ___, ancestors) {
        if (isNonNullType(typeInfo.getInputType()) && !isNonNull(name.value))
          requiredVariables.add(name.value);
        if (ancestors.some((node) => 'kind' in node && node.kind === Kind.OBJECT)) isCompilable = false;
      },
      VariableDefinition({ type, defaultValue }) {
        if (type.kind === Kind.NON_NULL_TYPE && defaultValue) isCompilable = false;
      },
      Directive() {
        isCompilable = false;
      },
      ObjectValue(literal, _, parent, __, ancestors) {
        if (!isLeafType(getNamedType(typeInfo.getInputType()))) return;
        isCompilable = false;
        const field = fieldName(inputNames([...ancestors, parent]));
        visit(literal, {
          Variable({ name: { value: name } }) {
            if (literalVariables.has(name)) return;
            literalVariables.set(name, { literal, field, inexactDefault: inexactDefaultOf(operation, name) });
          },
        });
      },
      Argument({ name, value }) {
        hasVariableCost ||= value.kind === Kind.VARIABLE && (name.value === 'first' || name.value === 'last');
      },
      Field(node) {
        const field = typeInfo.getFieldDef();
        if (!field) return;
        const { permission, errors = [], cost, rowsPerPoint } = optionsOf(field);
        hasHeavyField ||= (cost?.isHeavy ?? false) || field === SchemaMetaFieldDef;
        hasVariableCost ||=
          (typeof cost?.field === 'function' || typeof cost?.multiplier === 'function') &&
          (node.arguments ?? []).some(({ value }) => value.kind === Kind.VARIABLE);
        if (permission) permissions.add(permission);
        for (const code of errors) errorCodes.add(code);
        if (getNamedType(typeInfo.getParentType()) !== rootType) return;
        rootFields.push(field.name);
        const responseKey = (node.alias ?? node.name).value;
        for (const { name, value } of node.arguments ?? []) {
          const argument = field.args.find((candidate) => candidate.name === name.value);
          if (argument && rowsPerPoint && isListType(getNullableType(argument.type))) {
            rowCharges.push({ field: node, rows: value, rowsPerPoint });
            hasVariableCost ||= value.kind === Kind.VARIABLE;
          }
          if (argument && value.kind === Kind.VARIABLE) {
            variableArguments.push({ variable: value.name.value, argument, responseKey });
          }
        }
      },
    }),
  );
  return {
    document: alone,
    operation,
    permissions,
    errorCodes,
    rootFields,
    hasVariableCost,
    isCompilable,
    hasHeavyField,
    variableArguments,
    literalVariables,
    requiredVariables,
    rowCharges,
  };
}

/**
 * Returns the default value of a variable if the default value contains a number that the gateway cannot store exactly,
 * and `undefined` in all other cases.
 */
function inexactDefaultOf(operation: OperationDefinitionNode, name: string): ValueNode | undefined {
  const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  if (!definition?.defaultValue) return undefined;
  let isInexact = false;
  const checkNumber = ({ value }: IntValueNode | FloatValueNode) => void (isInexact ||= !isExact(value));
  visit(definition.defaultValue, { IntValue: checkNumber, FloatValue: checkNumber });
  return isInexact ? definition.defaultValue : undefined;
}

/**
 * Returns the name of an operation for logs, metrics and usage records. The name of an operation consists of the kind
 * and the root fields of the operation, such as `query locations,quotas`.
 */
export const operationName = (kind: string, rootFields: readonly string[]) =>
  `${kind} ${[...new Set(rootFields)].join(',')}`;

/** Returns the names of all possible operations with exactly one root field. */
export const rootFieldOperations = (schema: GraphQLSchema): string[] =>
  Object.values(OperationTypeNode).flatMap((kind) =>
    Object.keys(schema.getRootType(kind)?.getFields() ?? {}).map((field) => operationName(kind, [field])),
  );

/** Returns the validation rule of an argument, or undefined when the argument has no validation rule. */
export function argumentRule(argument: GraphQLArgument): StandardSchemaV1 | undefined {
  const extension = argument.extensions['@pothos/plugin-validation'] as
    { schemas?: StandardSchemaV1[] } | undefined;
  return extension?.schemas?.[0];
}
