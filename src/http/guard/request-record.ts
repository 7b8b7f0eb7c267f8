import type { GuardDependencies } from './guard-dependencies.ts';
import { type RequestState, unknownOperation } from '../request-state.ts';
import type { UnauthenticatedClients } from './unauthenticated-clients.ts';

/** How many characters of a client's text are logged: of a path without an operation, and of the path of an error. */
const maxLoggedPath = 200;

/** Records a request in the log, in the metrics, and in the usage of its key. */
export type RecordRequest = (
  state: RequestState,
  answered: { path: string; status: number; elapsedMs: number },
) => void;

/** Creates the request recorder of one process. */
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
    // A client can cause any number of refusals. They are counted instead of logged one by one.
    if (!key && errorCode === 'RATE_LIMIT_EXCEEDED') return;
    const loggedPath = operation === unknownOperation && path.slice(0, maxLoggedPath);
    log.info(
      // pino omits undefined members from the line.
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
