import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors/error-table.ts';
import { maskError } from '../errors/masking.ts';
import type { RequestState } from '../http/request-state.ts';
import { authorizeOperation } from './authorize.ts';
import { affordableCost, countValues, type OperationCost } from './cost.ts';
import { asSent, explainVariables, requireValues } from './explain-variables.ts';
import { maxLightCost, maxVariableFaults } from './limits.ts';
import { createFairTurns } from '../fair-turns.ts';
import { freeMoment } from '../free-moment.ts';
import { operationName, type OperationPlan, planOperation, type Variables } from './operation-plan.ts';
import { createOperationRunner, type OperationRunner } from './run-operation.ts';
import type { StreamLease } from './subscriptions.ts';

/** The context of a GraphQL request, with what the guard lends to it. */
export interface GraphRequestContext extends Context, OwnOfGraphContext {}

/** What the context of a GraphQL request has besides that of any request. */
export interface OwnOfGraphContext extends Pick<StreamLease, 'onKeysChanged' | 'stopping'> {
  /** What the log, the metrics and the usage record say of the request: the executor fills it in. */
  state: Pick<RequestState, 'operation' | 'errorCode' | 'errorPath'>;
  /** Whether the client asked for the cost of its operation (header `X-Query-Cost`). */
  showsCost: boolean;
  /** Charges further points for what the request does; throws `RATE_LIMIT_EXCEEDED`. */
  charge(points: number): Promise<void>;
}

/** The names of these members. */
export const ownOfGraphContext = [
  'state',
  'showsCost',
  'charge',
  'onKeysChanged',
  'stopping',
] as const satisfies (keyof OwnOfGraphContext)[];

/** One operation that a client asks for. */
interface OperationRequest {
  /** A document that keeps the rules of document.ts. */
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Variables | null | undefined;
}

/** What an operation gave, with errors that the client may see. */
interface OperationResult {
  data?: Record<string, unknown> | null;
  errors?: readonly ServiceError[];
  /** Only when the client asked for the cost. */
  extensions?: { cost: OperationCost };
}

/** An operation of the service's own: what REST runs. */
export interface PreparedOperation {
  plan: OperationPlan;
  /** Throws `FORBIDDEN` when the key may not run it. */
  authorize(context: Context): void;
  /** Runs it within the one point that the request has paid; never rejects. */
  run(variables: Variables, context: Context): Promise<OperationResult>;
}

/**
 * Runs operations, in this order: plan (operation-plan.ts), authorize (authorize.ts), cost and charge (cost.ts), run
 * (run-operation.ts), explain what is wrong with the variables (explain-variables.ts), mask (errors/masking.ts).
 */
export interface GraphExecutor {
  /** Runs an operation if the key may and the limits allow; never rejects. */
  execute(request: OperationRequest, context: GraphRequestContext): Promise<OperationResult>;
  /** Why an operation may not run; undefined when it may, and has been charged. */
  refusal(request: OperationRequest, context: GraphRequestContext): Promise<ServiceError | undefined>;
  /** The document of a text that was executed before, and so keeps the rules. */
  knownDocument(text: string): DocumentNode | undefined;
  /** Prepares a document of the service's own. */
  prepare(document: DocumentNode): PreparedOperation;
}

/**
 * Queries over `maxLightCost`, those about the schema and those with a field that takes turns, that a process runs at
 * once, one of each key: what they read and make delays others.
 */
const heavyTurns = createFairTurns(2);

/** Documents that are remembered with their operations. */
const maxKnownDocuments = 500;

/** How long the name of an operation may be in the log and in usage records, in characters. */
const maxOperationName = 200;

/** An operation of a document that was seen before. */
interface KnownOperation {
  plan: OperationPlan;
  run: OperationRunner;
}

/** Says in the state of a request which error the client is told first. */
export function recordError(
  [first]: readonly ServiceError[],
  state: Pick<RequestState, 'errorCode' | 'errorPath'>,
): void {
  if (!first) return;
  state.errorCode = first.code;
  if (first.path) state.errorPath = first.path.join('.');
}

/** Creates the one executor of a schema, which every surface uses. */
export function createGraphExecutor(schema: GraphQLSchema): GraphExecutor {
  const operations = new WeakMap<DocumentNode, Map<string, KnownOperation>>();
  const documents = new LRUCache<string, DocumentNode>({ max: maxKnownDocuments });

  function operationOf(document: DocumentNode, operationName?: string | null): KnownOperation {
    const ofDocument = operations.get(document) ?? new Map<string, KnownOperation>();
    operations.set(document, ofDocument);
    const name = operationName ?? '';
    let operation = ofDocument.get(name);
    if (!operation) {
      const plan = planOperation(schema, document, operationName);
      operation = { plan, run: createOperationRunner(schema, plan) };
      ofDocument.set(name, operation);
    }
    return operation;
  }

  /** Everything that is asked before an operation of a client runs. */
  async function admit(
    plan: OperationPlan,
    variables: Variables,
    context: GraphRequestContext,
  ): Promise<OperationCost> {
    const { operation, rootFields } = plan;
    context.state.operation = operationName(operation.operation, rootFields).slice(0, maxOperationName);
    authorizeOperation(plan, context.key);
    countValues(variables);
    requireValues(plan, variables);
    const cost = affordableCost(schema, plan, variables);
    // The guard has charged the first point.
    if (cost.points > 1) await context.charge(cost.points - 1);
    return cost;
  }

  async function run(
    { plan, run }: KnownOperation,
    variables: Variables,
    context: Context,
  ): Promise<OperationResult> {
    const hasManyValues = countValues(variables) > maxVariableFaults;
    if (hasManyValues) {
      // graphql-js puts whole values into the words of each fault, and graphql-jit words them all: that takes seconds.
      const fault = await explainVariables(schema, plan, variables);
      if (fault) return { errors: [fault] };
      await freeMoment();
    }
    const { data, errors } = await run(variables, context, hasManyValues);
    if (!errors) return { data };
    if (data === undefined) {
      const explained = await explainVariables(schema, plan, variables);
      if (explained) return { errors: [explained] };
    }
    const masked = errors.map((error) => asSent(maskError(error, context), plan, variables));
    return { ...(data !== undefined && { data }), errors: await Promise.all(masked) };
  }

  /** The words of the service for what kept an operation from running. */
  async function explain(
    error: unknown,
    plan: OperationPlan | undefined,
    variables: Variables,
    context: Context,
  ): Promise<ServiceError> {
    const explained =
      plan && !(error instanceof ServiceError) && (await explainVariables(schema, plan, variables));
    return explained || maskError(error, context);
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
        const cost = await admit(operation.plan, values, context);
        const known = operation;
        const { plan } = known;
        const isLarge = cost.requested > maxLightCost || plan.takesTurns;
        const isHeavy = plan.operation.operation === OperationTypeNode.QUERY && isLarge;
        const runNow = () => run(known, values, context);
        result = isHeavy ? await heavyTurns.run(context.key.id, runNow) : await runNow();
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
        return undefined;
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
        authorize: ({ key }) => authorizeOperation(plan, key),
        run: (variables, context) =>
          run(operation, variables, context).catch(async (error: unknown) => ({
            errors: [await explain(error, plan, variables, context)],
          })),
      };
    },
  };
}
