import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { compileQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { type AuthenticatedKey, requirePermission } from '../auth/key.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors/error-table.ts';
import { maskError } from '../errors/masking.ts';
import type { RequestState } from '../http/request-state.ts';
import { affordableCost, type OperationCost } from './cost.ts';
import { countValues } from './count-values.ts';
import { asSent, checkVariables, requireExactVariables, requireValues } from './check-variables.ts';
import { maxLightCost, maxVariableFaults } from './limits.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { operationName, type OperationPlan, planOperation, type Variables } from './operation-plan.ts';
import { type Compile, createOperationRunner, type OperationRunner } from './run-operation.ts';
import type { StreamLease } from './subscriptions.ts';

/**
 * The context of a GraphQL request. It has the properties that every request has, and the properties that only a
 * GraphQL request has.
 */
export interface GraphRequestContext extends Context, OwnOfGraphContext {}

/** The properties of the request context that exist only for GraphQL requests. */
export interface OwnOfGraphContext extends Pick<StreamLease, 'onKeysChanged' | 'stopping'> {
  /**
   * The operation and the error of the request, which the executor sets for the log, the metrics and the usage record.
   */
  state: Pick<RequestState, 'operation' | 'errorCode' | 'errorPath'>;
  /** Whether the client requested the cost of its operation with the header `X-Query-Cost`. */
  showsCost: boolean;
  /**
   * Charges the API key for an operation that costs more than one rate limit point. The request guard has already
   * charged one point for the request. `charge` replaces this point with all points of the operation. Throws
   * `RATE_LIMIT_EXCEEDED`, and charges no points, when the API key has too few rate limit points left. Throws
   * `VALIDATION_ERROR` when the operation costs more points than the rate limit ever allows.
   */
  charge(points: number): Promise<void>;
}

/** A request to run a GraphQL operation that a client has sent. */
interface OperationRequest {
  /** The parsed document, which the caller has already validated (document.ts). */
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Variables | null | undefined;
}

/** The result of an operation, which contains only errors that the client may see. */
interface OperationResult {
  data?: Record<string, unknown> | null;
  errors?: readonly ServiceError[];
  /** The cost of the operation, which is present only if the client requested the cost. */
  extensions?: { cost: OperationCost };
}

/** A GraphQL operation that the gateway itself defines, such as the operation of a REST route. */
export interface PreparedOperation {
  plan: OperationPlan;
  /** Throws the error `FORBIDDEN` when the API key of the request may not run the operation. */
  authorize(context: Context): void;
  /**
   * Runs the operation without charging further rate limit points, because each REST request costs exactly one point.
   * The returned promise never rejects, even if the operation fails.
   */
  run(variables: Variables, context: Context): Promise<OperationResult>;
}

/**
 * Runs operations. The steps are:
 *
 * - operation-plan.ts plans the operation;
 * - the executor checks the permissions of the API key;
 * - cost.ts computes the cost of the operation, and the executor charges this cost to the API key;
 * - run-operation.ts runs the operation;
 * - check-variables.ts checks the variables, and creates the error messages about invalid variables;
 * - errors/masking.ts hides unexpected errors from the client.
 */
export interface GraphExecutor {
  /**
   * Runs a client's operation if the API key has the necessary permissions and the operation is within the limits. The
   * returned promise never rejects, even if the operation fails.
   */
  execute(request: OperationRequest, context: GraphRequestContext): Promise<OperationResult>;
  /**
   * Checks an operation and its variables, and charges the cost of the operation to the API key, but does not run the
   * operation. Returns the error if the operation must not run, or undefined if the operation may run.
   */
  refusal(request: OperationRequest, context: GraphRequestContext): Promise<ServiceError | undefined>;
  /**
   * Returns the parsed document with a given text, or `undefined` if this process has not executed the document before.
   * The process has already validated the returned document.
   */
  knownDocument(text: string): DocumentNode | undefined;
  /** Prepares an operation that the gateway itself defines, such as the operation of a REST route. */
  prepare(document: DocumentNode): PreparedOperation;
}

/**
 * The slots that limit how many heavy queries run at the same time. A query is heavy in three cases: its cost is higher
 * than `maxLightCost`, it reads the schema, or it has a field with the option `isHeavy`.
 */
const heavySlots = createSlots(slotLimits.heavyQueries);

/**
 * The maximum number of executed GraphQL documents that the process keeps in its cache. Together with each document,
 * the cache keeps the plans of the operations in the document.
 */
const maxKnownDocuments = 500;

/** The maximum length of an operation name in the log and in usage records, in characters. */
const maxOperationName = 200;

/** A GraphQL operation in the cache: its plan, and the function that runs it. */
interface KnownOperation {
  plan: OperationPlan;
  run: OperationRunner;
}

/**
 * Checks that the API key has the permissions for all fields of an operation. The gateway checks the permissions before
 * it validates the variables and before any field runs. If the API key lacks a permission for one field, the whole
 * operation therefore returns no data and changes no data.
 *
 * @throws {ServiceError} `FORBIDDEN`
 */
function authorize(plan: OperationPlan, key: AuthenticatedKey): void {
  for (const permission of plan.permissions) requirePermission(key, permission);
}

/** Stores the first error of a response in the context of the request, for the log and the metrics. */
export function recordError(
  [first]: readonly ServiceError[],
  state: Pick<RequestState, 'errorCode' | 'errorPath'>,
): void {
  if (!first) return;
  state.errorCode = first.code;
  if (first.path) state.errorPath = first.path.join('.');
}

/**
 * Creates the executor that runs the operations of a schema. REST and GraphQL requests use the same executor.
 *
 * @param compile the function that compiles an operation after its first runs (see `createOperationRunner`)
 */
export function createGraphExecutor(schema: GraphQLSchema, compile: Compile = compileQuery): GraphExecutor {
  const operations = new WeakMap<DocumentNode, Map<string, KnownOperation>>();
  const documents = new LRUCache<string, DocumentNode>({ max: maxKnownDocuments });

  function operationOf(document: DocumentNode, operationName?: string | null): KnownOperation {
    const ofDocument = operations.get(document) ?? new Map<string, KnownOperation>();
    operations.set(document, ofDocument);
    const name = operationName ?? '';
    let operation = ofDocument.get(name);
    if (!operation) {
      const plan = planOperation(schema, document, operationName);
      operation = { plan, run: createOperationRunner(schema, plan, compile) };
      ofDocument.set(name, operation);
    }
    return operation;
  }

  /**
   * Checks an operation of a client, and charges the cost of the operation to the API key. The operation runs
   * afterwards. Also returns the number of values in the variables (`valueCount`).
   */
  async function admit(
    plan: OperationPlan,
    variables: Variables,
    context: GraphRequestContext,
  ): Promise<{ cost: OperationCost; valueCount: number }> {
    const { operation, rootFields } = plan;
    context.state.operation = operationName(operation.operation, rootFields).slice(0, maxOperationName);
    authorize(plan, context.key);
    const valueCount = countValues(variables);
    requireValues(plan, variables);
    requireExactVariables(plan, variables);
    const cost = affordableCost(schema, plan, variables);
    // The request guard (`src/http/guard/guard.ts`) has already charged one rate limit point for this request. For an
    // operation that costs only one point, the executor charges no additional points.
    if (cost.points > 1) await context.charge(cost.points);
    return { cost, valueCount };
  }

  async function run(
    { plan, run }: KnownOperation,
    variables: Variables,
    context: Context,
    valueCount = countValues(variables),
  ): Promise<OperationResult> {
    let coerced: Variables | undefined;
    if (valueCount > maxVariableFaults) {
      // The gateway writes its own error messages about invalid variables, because the messages of graphql-js quote
      // whole values. When many values are invalid, graphql-js also needs several seconds to create its error messages.
      const checked = await checkVariables(schema, plan, variables);
      if (checked.fault) return { errors: [checked.fault] };
      ({ coerced } = checked);
      await yieldToEventLoop();
    }
    const { data, errors } = await run(variables, context, coerced);
    if (!errors) return { data };
    if (data === undefined) {
      const { fault } = await checkVariables(schema, plan, variables);
      if (fault) return { errors: [fault] };
    }
    const masked = errors.map((error) => asSent(maskError(error, context), plan, variables));
    return { ...(data !== undefined && { data }), errors: await Promise.all(masked) };
  }

  /** Returns the error that the client gets when an operation could not run. */
  async function explain(
    error: unknown,
    plan: OperationPlan | undefined,
    variables: Variables,
    context: Context,
  ): Promise<ServiceError> {
    const checked =
      plan && !(error instanceof ServiceError) ? await checkVariables(schema, plan, variables) : undefined;
    return checked?.fault ?? maskError(error, context);
  }

  return {
    async execute({ document, operationName, variables }, context) {
      const values = variables ?? {};
      let operation: KnownOperation | undefined;
      let result: OperationResult;
      try {
        operation = operationOf(document, operationName);
        const text = document.loc?.source.body;
        if (text) documents.set(text, document);
        const { cost, valueCount } = await admit(operation.plan, values, context);
        const known = operation;
        const { plan } = known;
        const isLarge = cost.requested > maxLightCost || plan.hasHeavyField;
        const isHeavy = plan.operation.operation === OperationTypeNode.QUERY && isLarge;
        const runNow = () => run(known, values, context, valueCount);
        const runHeavy = async () => {
          // The gateway checks the API key again, because the key may have been revoked while the heavy query waited
          // for a slot.
          await context.reauthenticate();
          return runNow();
        };
        result = isHeavy ? await heavySlots.run(context.key.id, runHeavy) : await runNow();
        if (context.showsCost) result = { ...result, extensions: { cost } };
      } catch (error) {
        result = { errors: [await explain(error, operation?.plan, values, context)] };
      }
      if (result.errors) recordError(result.errors, context.state);
      return result;
    },
    async refusal({ document, operationName, variables }, context) {
      const values = variables ?? {};
      let plan: OperationPlan | undefined;
      try {
        ({ plan } = operationOf(document, operationName));
        await admit(plan, values, context);
        return (await checkVariables(schema, plan, values)).fault;
      } catch (error) {
        return explain(error, plan, values, context);
      }
    },
    knownDocument: (text) => documents.get(text),
    prepare(document) {
      const operation = operationOf(document);
      const { plan } = operation;
      return {
        plan,
        authorize: ({ key }) => authorize(plan, key),
        run: (variables, context) =>
          run(operation, variables, context).catch(async (error: unknown) => ({
            errors: [await explain(error, plan, variables, context)],
          })),
      };
    },
  };
}
