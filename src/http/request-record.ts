import type { GuardDependencies } from './guard-dependencies.ts';
import { type RequestState, unknownOperation } from './request-state.ts';
import type { Strangers } from './strangers.ts';

/** How much of a path is logged that no operation answers, in characters. */
const maxLoggedPath = 200;

/** Leaves the traces of a request: its log line, its part in the metrics, and the usage of its key. */
export type RecordRequest = (
  state: RequestState,
  answered: { path: string; status: number; elapsedMs: number },
) => void;

/** Creates what records the requests of one process. */
export function createRequestRecord(
  { log, metrics, usage }: Pick<GuardDependencies, 'log' | 'metrics' | 'usage'>,
  strangers: Pick<Strangers, 'countRefusal'>,
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
    } else if (errorCode) strangers.countRefusal(errorCode);
    // A client can be refused without end: its refusals are counted, and leave no line each.
    if (!key && errorCode === 'RATE_LIMIT_EXCEEDED') return;
    const loggedPath = operation === unknownOperation && path.slice(0, maxLoggedPath);
    log.info(
      // What is undefined is left out of the line.
      {
        requestId,
        surface,
        operation,
        status,
        errorCode,
        durationMs,
        address,
        keyId: key?.id ?? null,
        errorPath: errorPath || undefined,
        path: loggedPath || undefined,
      },
      'request',
    );
  };
}
