import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
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

/** The variables of a request, by name. */
export type Variables = Readonly<Record<string, unknown>>;

/** An argument of a root field whose value is one variable. */
export interface VariableArgument {
  variable: string;
  argument: GraphQLArgument;
  /** The name of the root field in the response: its alias or its name. */
  responseKey: string;
}

/** The properties of an operation that are needed before it runs. They are read from its document once. */
export interface OperationPlan {
  /** Only the operation and the fragments that it spreads. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** The permissions of every field that the operation selects. */
  permissions: ReadonlySet<Permission>;
  /** The error codes that its fields declare in their option `errors`. */
  errorCodes: ReadonlySet<ErrorCode>;
  /** The names of the root fields, without aliases. Logs and usage records name the operation by them. */
  rootFields: readonly string[];
  /** Whether the cost depends on variables: on a page size, on a list of rows, or on the length of a list. */
  hasVariableCost: boolean;
  /** Whether the operation has a field that always waits for a slot, even at a low cost. */
  takesTurns: boolean;
  /**
   * Whether graphql-jit may compile the operation. It would lose variables, and members such as `__proto__`, in an object
   * literal of the type JSON.
   */
  isCompilable: boolean;
  variableArguments: readonly VariableArgument[];
  /** Variables used where a value is required. They must not be null, even with a default (GraphQL, 5.8.5). */
  requiredVariables: ReadonlySet<string>;
  /** The lists of rows that are arguments of root fields. */
  rowCharges: readonly RowCharge[];
}

/** A list of rows that is the argument of a root field. */
interface RowCharge {
  field: FieldNode;
  rows: ValueNode;
  /** The number of rows for one point. */
  rowsPerPoint: number;
}

/**
 * Creates the plan of an operation in a valid document.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the document has no such operation
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): OperationPlan {
  const operation = getOperationAST(document, operationName);
  if (!operation) throw new ServiceError('VALIDATION_ERROR', 'The document has no such operation');
  const permissions = new Set<Permission>();
  const errorCodes = new Set<ErrorCode>();
  const rootFields: string[] = [];
  const variableArguments: VariableArgument[] = [];
  const rowCharges: RowCharge[] = [];
  const requiredVariables = new Set<string>();
  let hasVariableCost = false;
  let isCompilable = true;
  let takesTurns = false;
  const rootType = schema.getRootType(operation.operation);
  const typeInfo = new TypeInfo(schema);
  const alone = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    alone,
    visitWithTypeInfo(typeInfo, {
      Variable({ name }) {
        if (isNonNullType(typeInfo.getInputType())) requiredVariables.add(name.value);
      },
      ObjectValue() {
        isCompilable &&= !isLeafType(getNamedType(typeInfo.getInputType()));
      },
      Argument({ name, value }) {
        hasVariableCost ||= value.kind === Kind.VARIABLE && (name.value === 'first' || name.value === 'last');
      },
      Field(node) {
        const field = typeInfo.getFieldDef();
        if (!field) return;
        const {
          permission,
          errors = [],
          cost,
          rowsPerPoint,
        } = field.extensions as {
          permission?: Permission;
          errors?: readonly ErrorCode[];
          cost?: { takesTurns?: boolean; fieldOf?: unknown; itemsOf?: unknown };
          rowsPerPoint?: number;
        };
        takesTurns ||= (cost?.takesTurns ?? false) || field === SchemaMetaFieldDef;
        hasVariableCost ||=
          (cost?.fieldOf ?? cost?.itemsOf) !== undefined &&
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
    takesTurns,
    variableArguments,
    requiredVariables,
    rowCharges,
  };
}

/** The name of an operation in logs, metrics and usage records: its kind and its root fields. */
export const operationName = (kind: string, rootFields: readonly string[]) =>
  `${kind} ${[...new Set(rootFields)].join(',')}`;

/** The names of all operations with exactly one root field. */
export const rootFieldOperations = (schema: GraphQLSchema): string[] =>
  Object.values(OperationTypeNode).flatMap((kind) =>
    Object.keys(schema.getRootType(kind)?.getFields() ?? {}).map((field) => operationName(kind, [field])),
  );

/** The validation rule of an argument, if it has one. */
export function argumentRule(argument: GraphQLArgument): StandardSchemaV1 | undefined {
  const extension = argument.extensions['@pothos/plugin-validation'] as
    { schemas?: StandardSchemaV1[] } | undefined;
  return extension?.schemas?.[0];
}
