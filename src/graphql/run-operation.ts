import { execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { activeTracer, inSpan } from '../telemetry/spans.ts';
import { operationName, type OperationPlan, type Variables } from './operation-plan.ts';

/** Compiling costs milliseconds: only an operation that ran so often is compiled. */
const usesBeforeCompiling = 2;

/** Questions about the schema alone whose answers are kept, some 500 KiB each: each tool always asks the same. */
const maxSchemaAnswers = 8;

/** Their answers, which are always the same. */
const schemaAnswers = new LRUCache<OperationPlan, ExecutionResult>({ max: maxSchemaAnswers });

/**
 * Runs one operation, again and again.
 *
 * @param hasManyValues whether the variables hold so much that the compiled form, which reads them faster, pays at once
 */
export type OperationRunner = (
  variables: Variables,
  context: Context,
  hasManyValues: boolean,
) => Promise<ExecutionResult>;

/**
 * Creates what runs an operation: graphql-js at first, and graphql-jit's compiled form from the third time on. What
 * variables of the wrong type kept from running does not count.
 */
export function createOperationRunner(schema: GraphQLSchema, plan: OperationPlan): OperationRunner {
  const { document, operation, rootFields } = plan;
  const asksSchemaAlone =
    rootFields.every((name) => name.startsWith('__')) && !operation.variableDefinitions?.length;
  let uses = 0;
  let compiled: CompiledQuery | ExecutionResult | undefined;

  const run: OperationRunner = async (variables, context, hasManyValues) => {
    const known = asksSchemaAlone ? schemaAnswers.get(plan) : undefined;
    if (known) return known;
    if (hasManyValues || uses >= usesBeforeCompiling) compiled ??= compileQuery(schema, document);
    const result =
      compiled && isCompiledQuery(compiled)
        ? ((await compiled.query({}, context, { ...variables })) as ExecutionResult)
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
