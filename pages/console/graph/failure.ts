import type { CombinedError } from 'urql';
import { rateLimitDelayMs, retryDelayMs } from './retry.ts';

/**
 * A failed request of the console. The console shows each kind of failure in a different way, for example with or
 * without a retry button. If a failure has a time `retryAt` (in milliseconds since 1970), a view sends its request
 * again at this time.
 */
export type Failure =
  | { kind: 'offline'; retryAt: number }
  | { kind: 'rate-limit'; retryAt: number }
  | { kind: 'key-refused'; message: string }
  | {
      kind: 'refused';
      code: string;
      message: string;
      field: string | undefined;
      value: unknown;
      details: FieldError[];
    };

/** An error message of the gateway about one input field. */
interface FieldError {
  field: string;
  message: string;
}

interface Extensions {
  code?: string;
  details?: { field?: string; value?: unknown; errors?: FieldError[] };
}

/**
 * Converts the error of a failed request to a failure that a view can show.
 *
 * @param attempt the number of times that the console has already repeated the failed request
 */
export function failureOf(error: Pick<CombinedError, 'graphQLErrors' | 'response'>, attempt = 0): Failure {
  const response = error.response as Response | undefined;
  const [first] = error.graphQLErrors;
  const { code = 'INTERNAL_ERROR', details } = (first?.extensions ?? {}) as Extensions;
  if (response?.status === 429 || code === 'RATE_LIMIT_EXCEEDED') {
    return { kind: 'rate-limit', retryAt: Date.now() + rateLimitDelayMs(attempt, response) };
  }
  if (!first) return { kind: 'offline', retryAt: Date.now() + retryDelayMs(attempt) };
  if (code === 'UNAUTHORIZED') return { kind: 'key-refused', message: first.message };
  const fieldErrors = details?.errors ?? [];
  const { field, value } = details ?? {};
  return { kind: 'refused', code, message: first.message, field, value, details: fieldErrors };
}

/**
 * Whether the gateway may have made the requested change although the request failed. The gateway may have made the
 * change if the response is lost, or if the gateway failed while it handled the request.
 */
export function isUncertain(failure: Failure | undefined): boolean {
  return failure?.kind === 'offline' || (failure?.kind === 'refused' && failure.code === 'INTERNAL_ERROR');
}

/**
 * Returns the current version of an object after a version conflict, or `undefined` after any other failure. A version
 * conflict means that the gateway rejected a change because the request expected an older version of the object.
 */
export function conflictingVersion(failure: Failure | undefined): number | undefined {
  if (failure?.kind !== 'refused' || failure.code !== 'CONFLICT') return undefined;
  return typeof failure.value === 'number' ? failure.value : undefined;
}

/**
 * Returns the error messages of a failed request, with one message for each invalid field. The name of a field is the
 * last part of its path, for example `plateCode` for `input.plateCode`.
 */
export function fieldMessages(failure: Failure | undefined): Record<string, string> {
  if (failure?.kind !== 'refused') return {};
  const { field, message, details } = failure;
  const all = details.length > 0 ? details : field ? [{ field, message }] : [];
  return Object.fromEntries(all.map((each) => [each.field.split('.').at(-1)!, each.message]));
}
