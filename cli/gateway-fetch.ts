import { exitCode, Failure } from './failure.ts';
import { printable } from './printable.ts';

/** An error in a GraphQL response. */
export interface GraphError {
  message: string;
  extensions?: { code?: string; details?: { field?: string; value?: unknown } };
}

/**
 * The time limit for a response of the gateway, in milliseconds. The time limit is long, because an import can wait in
 * the gateway until other imports have ended.
 */
const answerTimeoutMs = 120_000;

/**
 * Whether `fetch` refused to send a request because the address or a header of the request is invalid. A command must
 * not print the error message of `fetch`, because the message may contain a secret from the address or from a header.
 */
const isInvalidRequest = (error: unknown) =>
  error instanceof TypeError &&
  (error.cause === undefined || (error.cause as { code?: string }).code === 'UND_ERR_INVALID_ARG');

const invalidRequest = 'its address or a header is invalid';

/**
 * Sends a request to the gateway. The function does not follow redirects, because a redirect could send the API key to
 * another server.
 *
 * @throws {Failure} when the request is invalid, or when the response is a redirect. The error message names the
 *   redirect's target
 */
export async function fetchFromGateway(address: URL, init: RequestInit): Promise<Response> {
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  const response = await fetch(address, { signal: timeout, ...init, redirect: 'manual' }).catch((error) => {
    if (!isInvalidRequest(error)) throw error;
    throw new Failure(`Cannot send the request to ${address.origin}: ${invalidRequest}`, exitCode.usage);
  });
  if (response.status < 300 || response.status > 399) return response;
  const target = response.headers.get('Location');
  const elsewhere = target && URL.canParse(target, address) ? new URL(target, address).href : 'nowhere';
  throw new Failure(
    `${address.origin} redirects to ${elsewhere}. The key was not sent there. If that is your gateway, give its address with --url.`,
  );
}

/**
 * The pauses before the first six retries of a request, in seconds. The pause before each later retry is 30 seconds.
 */
const pausesSeconds = [1, 2, 4, 8, 16, 30];

/** Returns the pause in seconds before the next retry, for a given number of consecutive failures. */
function pauseAfter(failures: number): number {
  return pausesSeconds[Math.min(failures, pausesSeconds.length) - 1] ?? 0;
}

/**
 * Returns the pause before a retry, in seconds: the value of the response header `Retry-After`. If there is no header
 * `Retry-After`, the pause grows with each consecutive failure, up to 30 seconds.
 */
export const pauseOf = (error: unknown, failures: number): number =>
  (error instanceof Failure ? error.retryAfterSeconds : undefined) ?? pauseAfter(Math.max(failures, 1));

/**
 * The longest pause before a retry, in seconds: one hour, which is the longest window of a rate limit. Without a limit,
 * a server could make pms pause for more than 24 days. A Node.js timer of more than 24 days ends immediately.
 */
const maxRetryAfterSeconds = 3600;

/**
 * Returns the number of seconds in the response header `Retry-After`, but at most 3,600 seconds. Returns `undefined`
 * when `Retry-After` is missing, or when it contains a date instead of a number. A gateway never sends a date in
 * `Retry-After`.
 */
export function retryAfterSeconds({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After') ?? '';
  return /^\d{1,9}$/.test(value) ? Math.min(Number(value), maxRetryAfterSeconds) : undefined;
}

/**
 * Returns the reason why a request has no response, as text. The returned text never contains the value of a header,
 * such as the API key.
 */
export function reasonOf(error: unknown): string {
  if (isInvalidRequest(error)) return `the request was not sent: ${invalidRequest}`;
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

/**
 * Creates the error for a response that did not come from a parking gateway.
 *
 * @param difference a text for the error message, which says how the response differs from a response of a gateway
 */
export const notGateway = (
  address: string,
  difference: string,
  answer: { temporary?: boolean; retryAfterSeconds?: number | undefined } = {},
) =>
  new Failure(
    `${address} is not a parking gateway: ${printable(difference)}. Check the address.`,
    undefined,
    answer,
  );

/**
 * Whether the HTTP status of a response is 500 or higher, which means that the gateway failed. After a failure of the
 * gateway, a retry may succeed.
 */
export const isGatewayFailure = ({ status }: Response) => status >= 500;

/** The error for a response whose HTTP status says that the gateway failed, but whose body contains no errors. */
export const unexplainedFailure: readonly GraphError[] = [{ message: 'The gateway failed; try again later' }];

/**
 * Creates the `Failure` for an error response of the gateway. The message of the `Failure` contains the code, the
 * message, the field and the value of each error.
 */
export function failureOf(errors: readonly GraphError[], response?: Response): Failure {
  const lines = errors.map(({ message, extensions: { code, details } = {} }) =>
    [
      `${printable(code ?? String(response?.status ?? 'Error'))}: ${printable(message)}`,
      ...(details?.field ? [`  field: ${printable(details.field)}`] : []),
      ...(details && 'value' in details ? [`  value: ${JSON.stringify(details.value)}`] : []),
    ].join('\n'),
  );
  const requestId = response?.headers.get('X-Request-Id');
  const { code, details: firstDetails } = errors[0]?.extensions ?? {};
  return new Failure([...lines, ...(requestId ? [`  request: ${requestId}`] : [])].join('\n'), undefined, {
    code,
    field: firstDetails?.field,
    temporary: code === 'INTERNAL_ERROR' || (response !== undefined && isGatewayFailure(response)),
    retryAfterSeconds: response && retryAfterSeconds(response),
  });
}
