import { type DocumentNode, execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { type CompiledQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { activeTracer, inSpan } from '../observability/spans.ts';
import { operationName, type OperationPlan, type Variables } from './operation-plan.ts';

/**
 * How often an operation runs before it is compiled. Compiling takes milliseconds, which is worthwhile only for an
 * operation that runs often.
 */
const usesBeforeCompiling = 2;

/**
 * The maximum number of cached introspection results. Each result takes about 500 KiB. A small cache is enough, because
 * each tool always sends the same introspection query.
 */
const maxSchemaAnswers = 8;

/**
 * The cached results of introspection queries. The result of an introspection query stays the same as long as the
 * process runs.
 */
const schemaAnswers = new LRUCache<OperationPlan, ExecutionResult>({ max: maxSchemaAnswers });

/** Compiles the only operation of a document. Returns the reason if the operation cannot be compiled. */
export type Compile = (schema: GraphQLSchema, document: DocumentNode) => CompiledQuery | ExecutionResult;

/**
 * Runs one operation, any number of times.
 *
 * @param hasManyValues whether the variables have many values. The operation is then compiled before its first run,
 *   because compiled operations read variables faster
 */
export type OperationRunner = (
  variables: Variables,
  context: Context,
  hasManyValues: boolean,
) => Promise<ExecutionResult>;

/**
 * Creates the function that runs an operation. The first two runs use graphql-js, and later runs use code that
 * graphql-jit has compiled. A run that fails because of its variables does not count.
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
