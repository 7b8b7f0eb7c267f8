import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  visit,
} from 'graphql';
import { type CompiledQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { activeTracer, inSpan } from '../observability/spans.ts';
import { operationName, type OperationPlan, type Variables } from './operation-plan.ts';

/**
 * The number of times that an operation runs before the gateway compiles the operation. Compiling an operation takes
 * milliseconds, which is worthwhile only if the operation runs often.
 */
const usesBeforeCompiling = 2;

/**
 * The maximum number of cached introspection results. Each cached introspection result occupies about 500 KiB of
 * memory. A small cache of introspection results is enough, because each GraphQL tool always sends the same
 * introspection query.
 */
const maxSchemaAnswers = 8;

/** The cached results of introspection queries, which never change while the process runs. */
const schemaAnswers = new LRUCache<OperationPlan, ExecutionResult>({ max: maxSchemaAnswers });

/**
 * Compiles the operation of a document that contains only one operation. If graphql-jit cannot compile the operation,
 * the returned `ExecutionResult` contains the reason.
 */
export type Compile = (schema: GraphQLSchema, document: DocumentNode) => CompiledQuery | ExecutionResult;

/**
 * Runs one operation. A caller may call an `OperationRunner` any number of times.
 *
 * @param coerced the coerced variables, if the caller has already coerced the variables. Only compiled operations
 *   accept coerced variables, so the gateway compiles an operation before its first run with such variables. If the
 *   gateway coerced the variables of an import of 10,000 rows a second time, it would block the process for about 100
 *   ms
 */
export type OperationRunner = (
  variables: Variables,
  context: Context,
  coerced: Variables | undefined,
) => Promise<ExecutionResult>;

/**
 * Creates the function that runs a GraphQL operation. By default, the first two runs of an operation use graphql-js,
 * and later runs use code that graphql-jit has compiled. A run that fails because of invalid variables does not count
 * as one of these two runs.
 */
export function createOperationRunner(
  schema: GraphQLSchema,
  plan: OperationPlan,
  compile: Compile,
): OperationRunner {
  const { document, operation, rootFields, isCompilable } = plan;
  const asksSchemaAlone =
    rootFields.every((name) => name.startsWith('__')) && !operation.variableDefinitions?.length;
  let uses = 0;
  let compiled: CompiledQuery | ExecutionResult | undefined;
  let compiledForCoerced: CompiledQuery | ExecutionResult | undefined;

  const run: OperationRunner = async (variables, context, coerced) => {
    const known = asksSchemaAlone ? schemaAnswers.get(plan) : undefined;
    if (known) return known;
    let result: ExecutionResult | undefined;
    if (isCompilable && coerced) {
      compiledForCoerced ??= compile(...forCoercedVariables(schema, document));
      result = await runCompiled(compiledForCoerced, context, coerced);
    } else if (isCompilable && uses >= usesBeforeCompiling) {
      compiled ??= compile(schema, document);
      result = await runCompiled(compiled, context, variables);
    }
    result ??= await execute({ schema, document, contextValue: context, variableValues: variables });
    if (result.data !== undefined) uses += 1;
    if (asksSchemaAlone) schemaAnswers.set(plan, result);
    return result;
  };

  return (variables, context, coerced) => {
    const tracer = activeTracer();
    if (!tracer) return run(variables, context, coerced);
    const attributes = {
      'graphql.operation.type': operation.operation,
      ...(operation.name && { 'graphql.operation.name': operation.name.value }),
    };
    return inSpan(tracer, operationName(operation.operation, rootFields), { attributes }, () =>
      run(variables, context, coerced),
    );
  };
}

/** Runs a compiled operation. Returns `undefined` if graphql-jit could not compile the operation. */
const runCompiled = async (
  compiled: CompiledQuery | ExecutionResult,
  context: Context,
  variables: Variables,
): Promise<ExecutionResult | undefined> =>
  isCompiledQuery(compiled)
    ? ((await compiled.query(undefined, context, { ...variables })) as ExecutionResult)
    : undefined;

/**
 * The GraphQL type of each variable that the gateway has already coerced before it runs an operation. The type
 * `Coerced` accepts every value.
 */
const Coerced = new GraphQLScalarType({ name: 'Coerced' });

/**
 * Returns the schema and the document for the compiler graphql-jit. The compiled operation receives coerced variables.
 * In the returned document, each variable has the type `Coerced`. The compiled code therefore passes the value of each
 * variable to the resolvers unchanged.
 */
export function forCoercedVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
): [GraphQLSchema, DocumentNode] {
  const getType: GraphQLSchema['getType'] = (name) =>
    name === Coerced.name ? Coerced : schema.getType(name);
  return [
    Object.create(schema, { getType: { value: getType } }) as GraphQLSchema,
    visit(document, {
      VariableDefinition: ({ defaultValue: _, ...definition }) => ({
        ...definition,
        type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Coerced.name } },
      }),
    }),
  ];
}
