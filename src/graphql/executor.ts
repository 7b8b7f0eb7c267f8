import { type DocumentNode, execute, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';
import { authorizeOperation, explainVariables, type OperationPlan, planOperation } from './operation.ts';
import type { StreamLease } from './key-bound-stream.ts';
import { countValues, operationLimits, requireAffordable } from './operation-limits.ts';

/** The context of a GraphQL request, with what the guard lends to it. */
export interface GraphRequestContext extends Context, StreamLease {
  /** Charges further points for what the request does; throws `RATE_LIMIT_EXCEEDED`. */
  charge(points: number): Promise<void>;
  /** Tells the log and the usage record what runs. */
  operationIs(name: string): void;
}

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Runs the operations of valid documents. */
export interface GraphExecutor {
  /** Runs an operation if the key may and the limits allow; never rejects. */
  execute(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: GraphRequestContext,
  ): Promise<ExecutionResult>;
  /** Why an operation may not run; undefined when it may. */
  refusal(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: GraphRequestContext,
  ): Promise<GraphQLError | undefined>;
  /** The document of a text that was executed before, and so is valid. */
  knownDocument(text: string): DocumentNode | undefined;
}

/** Compiling costs milliseconds: only for operations that come again. */
const compiledAfter = 3;
const mostKnownDocuments = 500;

/** One operation of a document: what it needs, how often it ran, and its compiled form. */
interface KnownOperation {
  plan: OperationPlan;
  uses: number;
  compiled?: CompiledQuery | ExecutionResult;
}

/** Creates what runs the operations of both valid and welcome documents, and remembers them. */
export function createGraphExecutor(schema: GraphQLSchema): GraphExecutor {
  const operations = new WeakMap<DocumentNode, Map<string, KnownOperation>>();
  const documents = new LRUCache<string, DocumentNode>({ max: mostKnownDocuments });

  function operationOf(document: DocumentNode, operationName: string | null | undefined): KnownOperation {
    const known = operations.get(document) ?? new Map<string, KnownOperation>();
    operations.set(document, known);
    const name = operationName ?? '';
    const operation = known.get(name) ?? { plan: planOperation(schema, document, operationName), uses: 0 };
    known.set(name, operation);
    return operation;
  }

  /** Everything that is asked before an operation runs. Returns how many values its variables hold. */
  async function admit(
    plan: OperationPlan,
    variables: Variables,
    context: GraphRequestContext,
  ): Promise<number> {
    const { operation, rootFields } = plan;
    context.operationIs(`${operation.operation} ${[...new Set(rootFields)].join(',')}`.slice(0, 200));
    authorizeOperation(plan, context.key);
    const values = countValues(variables ?? {});
    requireAffordable(schema, plan, variables ?? {}, context);
    if (operation.operation === 'mutation' && rootFields.length > 1)
      await context.charge(rootFields.length - 1);
    return values;
  }

  async function run(
    known: KnownOperation,
    variables: Variables,
    values: number,
    context: GraphRequestContext,
  ) {
    known.uses += 1;
    if (known.uses >= compiledAfter) known.compiled ??= compileQuery(schema, known.plan.document);
    // graphql-jit puts every fault of the variables into words, graphql-js gives up after the first few.
    const result =
      values <= operationLimits.variableFaults && known.compiled && isCompiledQuery(known.compiled)
        ? await known.compiled.query({}, context, { ...variables })
        : await execute({
            schema,
            document: known.plan.document,
            contextValue: context,
            variableValues: variables,
          });
    if (!result.errors || result.data !== undefined) return result as ExecutionResult;
    const explained = await explainVariables(schema, known.plan, variables ?? {});
    return explained ? { errors: [explained] } : (result as ExecutionResult);
  }

  /** The words of the service for whatever went wrong before an operation ran. */
  async function explain(
    error: unknown,
    plan: OperationPlan | undefined,
    variables: Variables,
  ): Promise<GraphQLError> {
    if (!(error instanceof GraphQLError))
      return new GraphQLError('', { originalError: error as Error, path: [] });
    const unexplained = error.extensions.code === undefined && plan;
    return (unexplained && (await explainVariables(schema, plan, variables ?? {}))) || error;
  }

  return {
    async execute(document, operationName, variables, context) {
      let known: KnownOperation | undefined;
      try {
        known = operationOf(document, operationName);
        const text = document.loc?.source.body;
        if (text) documents.set(text, document);
        const values = await admit(known.plan, variables, context);
        return await run(known, variables, values, context);
      } catch (error) {
        return { errors: [await explain(error, known?.plan, variables)] };
      }
    },
    async refusal(document, operationName, variables, context) {
      let plan: OperationPlan | undefined;
      try {
        ({ plan } = operationOf(document, operationName));
        await admit(plan, variables, context);
        return undefined;
      } catch (error) {
        return explain(error, plan, variables);
      }
    },
    knownDocument: (text) => documents.get(text),
  };
}
