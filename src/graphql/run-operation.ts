import { execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Context } from '../context.ts';
import { activeTracer, inSpan } from '../telemetry/spans.ts';
import { operationName, type OperationPlan, type Variables } from './operation-plan.ts';

/** Compiling costs milliseconds: only an operation that ran so often is compiled. */
const usesBeforeCompiling = 2;

/** Runs one operation, again and again. */
export type OperationRunner = (variables: Variables, context: Context) => Promise<ExecutionResult>;

/**
 * Creates what runs an operation: graphql-js at first, and graphql-jit's compiled form from the third time on. What
 * variables of the wrong type kept from running does not count.
 */
export function createOperationRunner(schema: GraphQLSchema, plan: OperationPlan): OperationRunner {
  const { document, operation, rootFields } = plan;
  let uses = 0;
  let compiled: CompiledQuery | ExecutionResult | undefined;

  const run: OperationRunner = async (variables, context) => {
    if (uses >= usesBeforeCompiling) compiled ??= compileQuery(schema, document);
    const result =
      compiled && isCompiledQuery(compiled)
        ? ((await compiled.query({}, context, { ...variables })) as ExecutionResult)
        : await execute({ schema, document, contextValue: context, variableValues: variables });
    if (result.data !== undefined) uses += 1;
    return result;
  };

  return (variables, context) => {
    const tracer = activeTracer();
    if (!tracer) return run(variables, context);
    const attributes = {
      'graphql.operation.type': operation.operation,
      ...(operation.name && { 'graphql.operation.name': operation.name.value }),
    };
    return inSpan(tracer, operationName(operation.operation, rootFields), { attributes }, () =>
      run(variables, context),
    );
  };
}
