import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import {
  coerceInputValue,
  type DocumentNode,
  getNamedType,
  getOperationAST,
  type GraphQLArgument,
  type GraphQLSchema,
  isInputType,
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Permission } from '../prisma/generated/client/enums.ts';
import { type AuthenticatedKey, requirePermission } from './auth.ts';
import { type FieldFault, invalidField, ServiceError, shown } from './errors.ts';
import { operationLimits } from './operation-limits.ts';
import { fieldName, validationError } from './validation.ts';

/** What must be known of an operation before it runs; read off its document once. */
export interface OperationPlan {
  /** The operation with the fragments that it spreads, and nothing else. */
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** The permissions of every field that the operation selects. */
  permissions: ReadonlySet<Permission>;
  /** The root fields, without their aliases: what logs and usage records call the operation. */
  rootFields: readonly string[];
  /** Whether the size of a page is a variable, so that the cost depends on it. */
  variablePages: boolean;
  /** The arguments of root fields that are given as one variable each. */
  variableArguments: readonly { variable: string; argument: GraphQLArgument }[];
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
  const rootFields: string[] = [];
  const variableArguments: { variable: string; argument: GraphQLArgument }[] = [];
  let variablePages = false;
  const rootType = schema.getRootType(operation.operation);
  const typeInfo = new TypeInfo(schema);
  const alone = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    alone,
    visitWithTypeInfo(typeInfo, {
      Argument({ name, value }) {
        variablePages ||= value.kind === Kind.VARIABLE && (name.value === 'first' || name.value === 'last');
      },
      Field(node) {
        const field = typeInfo.getFieldDef();
        if (!field) return;
        const permission = field.extensions.permission as Permission | undefined;
        if (permission) permissions.add(permission);
        if (getNamedType(typeInfo.getParentType()) !== rootType) return;
        rootFields.push(field.name);
        for (const { name, value } of node.arguments ?? []) {
          const argument = field.args.find((candidate) => candidate.name === name.value);
          if (argument && value.kind === Kind.VARIABLE) {
            variableArguments.push({ variable: value.name.value, argument });
          }
        }
      },
    }),
  );
  return { document: alone, operation, permissions, rootFields, variablePages, variableArguments };
}

/**
 * Lets an operation pass whose every field the key may select. Asked before anything of it is
 * validated or run, so that a key without the permission learns nothing and changes nothing.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
export function authorizeOperation(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}

/** The rule that guards an argument, if it has one. */
export function argumentRule(argument: GraphQLArgument): StandardSchemaV1 | undefined {
  const extension = argument.extensions['@pothos/plugin-validation'] as
    { schemas?: StandardSchemaV1[] } | undefined;
  return extension?.schemas?.[0];
}

/**
 * Why variables do not fit their operation, in the service's words: by the rules of the arguments that
 * they are given to, which name the field, or else by the types of the schema.
 *
 * @returns `VALIDATION_ERROR`, or undefined when the variables do fit
 */
export async function explainVariables(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Readonly<Record<string, unknown>>,
): Promise<ServiceError | undefined> {
  const faults: FieldFault[] = [];
  let firstValue: unknown;
  for (const definition of plan.operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (!type || !isInputType(type) || (value === undefined && definition.defaultValue)) continue;
    let fits = true;
    try {
      coerceInputValue(value, type, (path, invalidValue, error) => {
        fits = false;
        if (faults.length === operationLimits.variableFaults) {
          const message = `${error.message} It is one of more than ${faults.length} faults.`;
          throw invalidField(fieldName([name, ...path]), message, invalidValue);
        }
        // graphql-js names a missing field in its words alone.
        const [, absent] = /^Field "(\w+)" of required type/.exec(error.message) ?? [];
        const field = fieldName([name, ...path, ...(absent ? [absent] : [])]);
        const missing = absent !== undefined || invalidValue === undefined || invalidValue === null;
        if (faults.length === 0) firstValue = missing ? undefined : invalidValue;
        faults.push({ field, message: missing ? `Missing required field: ${field}` : error.message });
      });
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
    if (fits) continue;
    for (const { variable, argument } of plan.variableArguments) {
      const rule = variable === name && argumentRule(argument);
      const result = rule && (await rule['~standard'].validate(value));
      if (result && result.issues) {
        const input = { [argument.name]: value };
        return validationError(
          result.issues.map((issue) => ({ ...issue, path: [argument.name, ...(issue.path ?? [])] })),
          input,
        );
      }
    }
  }
  const [first] = faults;
  return (
    first &&
    new ServiceError('VALIDATION_ERROR', first.message, {
      field: first.field,
      value: shown(firstValue),
      errors: faults,
    })
  );
}
