import { type DocumentNode, execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
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
 * The maximum number of cached introspection results. Each cached result occupies about 500 KiB of memory. A small
 * cache of introspection results is enough, because each GraphQL tool always sends the same introspection query.
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
 * @param hasManyValues whether the variables contain many values. An operation with many values is compiled before its
 *   first run, because a compiled operation reads variables faster
 */
export type OperationRunner = (
  variables: Variables,
  context: Context,
  hasManyValues: boolean,
) => Promise<ExecutionResult>;

/**
 * Creates the function that runs an operation. By default, the first two runs of an operation use graphql-js, and later
 * runs use code that graphql-jit has compiled. A run that fails because of invalid variables does not count as one of
 * the first two runs.
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

  const run: OperationRunner = async (variables, context, hasManyValues) => {
    const known = asksSchemaAlone ? schemaAnswers.get(plan) : undefined;
    if (known) return known;
    const isDue = hasManyValues || uses >= usesBeforeCompiling;
    if (isDue && isCompilable) compiled ??= compile(schema, document);
    const result =
      compiled && isCompiledQuery(compiled)
        ? ((await compiled.query(undefined, context, { ...variables })) as ExecutionResult)
        : await execute({ schema, document, contextValue: context, variableValues: variables });
    if (result.data !== undefined) uses += 1;
    if (asksSchemaAlone) schemaAnswers.set(plan, result);
    return result;
  };

  return (variables, context, hasManyValues) => {
    const tracer = activeTracer();
    if (!tracer) return run(variables, context, hasManyValues);
    const attributes = {
      'graphql.operation.type': operation.operation,
      ...(operation.name && { 'graphql.operation.name': operation.name.value }),
    };
    return inSpan(tracer, operationName(operation.operation, rootFields), { attributes }, () =>
      run(variables, context, hasManyValues),
    );
  };
}
