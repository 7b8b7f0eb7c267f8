import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLSchema,
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

/** An argument of a root field that is given as one variable. */
interface VariableArgument {
  variable: string;
  argument: GraphQLArgument;
  /** What the answer calls the root field: its alias or its name. */
  responseKey: string;
}

/** What must be known of an operation before it runs; read off its document once. */
export interface OperationPlan {
  /** The operation with the fragments that it spreads, and nothing else. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** The permissions of every field that the operation selects. */
  permissions: ReadonlySet<Permission>;
  /** The codes that its fields announce, each in its option `errors`. */
  errorCodes: ReadonlySet<ErrorCode>;
  /** The root fields, without their aliases: what logs and usage records call the operation. */
  rootFields: readonly string[];
  /** Whether the size of a page or a list of rows is a variable, so that the cost depends on it. */
  hasVariableCost: boolean;
  /** Whether a field of it takes turns with those of other operations, whatever it costs. */
  takesTurns: boolean;
  variableArguments: readonly VariableArgument[];
  /** Variables that have a default and may not be null, since a field requires a value (GraphQL, 5.8.5). */
  requiredVariables: ReadonlySet<string>;
  /** The lists of rows that root fields take, each with its field. */
  rowCharges: readonly RowCharge[];
}

/** A list of rows that a root field takes. */
interface RowCharge {
  field: FieldNode;
  rows: ValueNode;
  /** How many rows one point pays for. */
  rowsPerPoint: number;
}

/**
 * Reads off a valid document what its operation needs.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when there is no such operation
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
          cost?: { takesTurns?: boolean };
          rowsPerPoint?: number;
        };
        takesTurns ||= (cost?.takesTurns ?? false) || field === SchemaMetaFieldDef;
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
    takesTurns,
    variableArguments,
    requiredVariables,
    rowCharges,
  };
}

/** What logs, metrics and usage records call an operation: its kind and its root fields. */
export const operationName = (kind: string, rootFields: readonly string[]) =>
  `${kind} ${[...new Set(rootFields)].join(',')}`;

/** The names of all operations that have one root field. */
export const rootFieldOperations = (schema: GraphQLSchema): string[] =>
  Object.values(OperationTypeNode).flatMap((kind) =>
    Object.keys(schema.getRootType(kind)?.getFields() ?? {}).map((field) => operationName(kind, [field])),
  );

/** The rule that guards an argument, if it has one. */
export function argumentRule(argument: GraphQLArgument): StandardSchemaV1 | undefined {
  const extension = argument.extensions['@pothos/plugin-validation'] as
    { schemas?: StandardSchemaV1[] } | undefined;
  return extension?.schemas?.[0];
}
