import type { CombinedError } from 'urql';

/** The kinds of failures. Each kind is shown in a different way. */
export type Failure =
  | { kind: 'offline' }
  | { kind: 'rate-limit'; retryAt: number }
  | { kind: 'key-refused'; message: string }
  | { kind: 'refused'; code: string; message: string; field: string | undefined; details: FieldError[] };

/** An error of the gateway about one field of an input. */
interface FieldError {
  field: string;
  message: string;
}

/** How long to wait after a response with status 429 and without `Retry-After`, in seconds. */
const defaultRetrySeconds = 10;

interface Extensions {
  code?: string;
  details?: { field?: string; errors?: FieldError[] };
}

/** Converts an error of the GraphQL client to the kind of failure that a view can show. */
export function failureOf(error: CombinedError): Failure {
  const response = error.response as Response | undefined;
  const [first] = error.graphQLErrors;
  const { code = 'INTERNAL_ERROR', details } = (first?.extensions ?? {}) as Extensions;
  if (response?.status === 429 || code === 'RATE_LIMIT_EXCEEDED') {
    const seconds = Number(response?.headers.get('Retry-After')) || defaultRetrySeconds;
    return { kind: 'rate-limit', retryAt: Date.now() + seconds * 1000 };
  }
  if (!first) return { kind: 'offline' };
  if (code === 'UNAUTHORIZED') return { kind: 'key-refused', message: first.message };
  const fieldErrors = details?.errors ?? [];
  return { kind: 'refused', code, message: first.message, field: details?.field, details: fieldErrors };
}

/**
 * Returns the messages of a failure by field. The name of the field is the last part of its path, such as `plateCode`
 * for `input.plateCode`.
 */
export function fieldMessages(failure: Failure | undefined): Record<string, string> {
  if (failure?.kind !== 'refused') return {};
  const { field, message, details } = failure;
  const all = details.length > 0 ? details : field ? [{ field, message }] : [];
  return Object.fromEntries(all.map((each) => [each.field.split('.').at(-1)!, each.message]));
}
