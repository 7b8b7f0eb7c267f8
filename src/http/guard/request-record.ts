import type { GuardDependencies } from './guard-dependencies.ts';
import { type RequestState, unknownOperation } from '../request-state.ts';
import type { UnauthenticatedClients } from './unauthenticated-clients.ts';

/**
 * The maximum number of characters of a path in the log. The gateway shortens a longer URL path before it logs the
 * path, because a client can send a very long URL path. A client can also choose long aliases in a GraphQL request, and
 * the path of a GraphQL error contains these aliases.
 */
const maxLoggedPath = 200;

/**
 * Records a request in the log and in the metrics. If the request has a valid API key, the gateway also counts the
 * request in the usage of this API key.
 */
export type RecordRequest = (
  state: RequestState,
  answered: { path: string; status: number; elapsedMs: number },
) => void;

/** Creates the function that records the requests of one process. */
export function createRequestRecord(
  { log, metrics, usage }: Pick<GuardDependencies, 'log' | 'metrics' | 'usage'>,
  unauthenticatedClients: Pick<UnauthenticatedClients, 'countRefusal'>,
): RecordRequest {
  return (state, { path, status, elapsedMs }) => {
    const { requestId, surface, operation, address, key, errorPath } = state;
    const errorCode = state.errorCode ?? null;
    const durationMs = Math.round(elapsedMs * 100) / 100;
    const { decision } = state;
    const hasKey = key !== undefined;
    metrics.record({ surface, operation, status, errorCode, durationMs, hasKey, decision });
    if (key) {
      usage.record({
        apiKeyId: key.id,
        requestId,
        surface,
        operation,
        status,
        errorCode,
        durationMs,
        address,
        createdAt: new Date(),
      });
    } else if (errorCode) unauthenticatedClients.countRefusal(errorCode);
    // When a request without a valid API key exceeds the rate limit of the client's address, the gateway writes no log
    // line for the request. If the gateway logged each refusal, a client could fill the log.
    if (!key && errorCode === 'RATE_LIMIT_EXCEEDED') return;
    const loggedPath = operation === unknownOperation && path.slice(0, maxLoggedPath);
    log.info(
      // The logger pino omits object properties whose value is undefined.
      {
        requestId,
        surface,
        operation,
        status,
        errorCode,
        durationMs,
        address,
        keyId: key?.id ?? null,
        errorPath: errorPath?.slice(0, maxLoggedPath) || undefined,
        path: loggedPath || undefined,
      },
      'request',
    );
  };
}
