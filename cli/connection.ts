import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';
import {
  fetchFromGateway,
  type GraphError,
  isGatewayFailure,
  notGateway,
  pauseOf,
  reasonOf,
  retryAfterSeconds,
} from './gateway-fetch.ts';
import { requestUrl } from './gateway-url.ts';
import { printable } from './printable.ts';

/** A response of a gateway to a request from the command-line program. */
interface GatewayAnswer {
  response: Response;
  /** The response body, parsed as JSON. If the status is 429 and the body is not JSON, `body` is undefined. */
  body: unknown;
}

/** Sends requests to one gateway with one API key. */
export interface Connection {
  /**
   * Sends a request. `send` sends a request again only if the gateway refused the request because of a limit, such as
   * the rate limit. A request that the gateway refuses because of a limit changes no data. When the gateway refuses a
   * request because of a limit, the response has status 429, or contains the GraphQL error `RATE_LIMIT_EXCEEDED` for
   * every field. Before a retry, `send` waits for the time in the response header `Retry-After`, or for one second
   * without this header.
   *
   * @param path the path and query of the request, which `send` appends to the path of the gateway's address
   * @param stopping an AbortSignal that interrupts the pause after a rate limit error; `send` then throws an AbortError
   * @throws {Failure} when no gateway answers. `send` also throws a `Failure` if the gateway still refuses the request
   *   because of a limit after a hundred retries. If a later retry may succeed, the property `temporary` of the
   *   `Failure` is true
   */
  send(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
    stopping?: AbortSignal,
  ): Promise<GatewayAnswer>;
  /**
   * Sends a request that the gateway may execute twice without harm. When the gateway fails or becomes unreachable,
   * `repeat` retries the request a few times. Without any earlier answer from the gateway, `repeat` does not retry.
   *
   * @param request a function that sends the request once. If a retry may succeed, the function throws a temporary
   *   `Failure`
   * @param stopping an AbortSignal that ends the pause before a retry; `repeat` then throws an AbortError
   */
  repeat<Result>(request: () => Promise<Result>, stopping?: AbortSignal): Promise<Result>;
}

/** The address of the gateway and the API key. */
export interface GatewayOptions {
  url: string;
  key: string;
  /**
   * Before each retry of a request, the connection calls `onWait` with the reason for the retry and the number of
   * seconds until the retry.
   */
  onWait: (reason: string, seconds: number) => void;
}

/**
 * The maximum number of retries after a failure of the gateway. The pauses before the five retries take about half a
 * minute in total.
 */
const maxRetries = 5;

/**
 * The maximum number of retries for one request that the gateway refuses because of a limit. After the pause that the
 * header `Retry-After` states, the gateway usually accepts the request. If other clients use the same API key, the
 * gateway can refuse a retry because of the same limit. If a hundred retries of one request fail, probably another
 * program refuses the request, such as a proxy with its own limit.
 */
const maxLimitRetries = 100;

/** The HTTP status of a request that was refused because of a limit. */
const tooManyRequests = 429;

/** The HTTP header that marks a request body as JSON. */
export const jsonType = { 'Content-Type': 'application/json' } as const;

/**
 * Each pattern in `codes` matches the error codes that Node.js reports when a server does not send a complete HTTP
 * response. The text `difference` is a part of the error message, and says how the server's response differs from the
 * response of a gateway.
 */
const strangeAnswers: { codes: RegExp; difference: string; temporary?: boolean }[] = [
  { codes: /^HPE_/, difference: 'its answer is not HTTP (a TLS port needs https://)' },
  { codes: /^(ERR_SSL_|EPROTO)/, difference: 'its answer is not TLS (a port without TLS needs http://)' },
  // A gateway that stops, for example for an update, closes its connections. A closed connection therefore counts as a
  // temporary failure.
  { codes: /^(UND_ERR_SOCKET|ECONNRESET)$/, difference: 'it closed the connection', temporary: true },
];

/**
 * Returns the error message if the gateway refused the whole request because of a limit, and otherwise `undefined`.
 * When the gateway refuses a request because of a limit, it can also send the status 200. For example, the gateway
 * sends this status for a change that has waited too long for earlier changes of its location (docs/rate-limits.md).
 */
function refusalOf({ response, body }: GatewayAnswer): string | undefined {
  if (response.status === tooManyRequests) {
    return body === undefined
      ? 'A server before the gateway limits the requests (status 429)'
      : 'The rate limit of the key is reached';
  }
  const { data, errors } = (body ?? {}) as { data?: Record<string, unknown> | null; errors?: GraphError[] };
  // A response that comes from another server, such as a proxy, can have a field `errors` that is not a list.
  if (!Array.isArray(errors)) return undefined;
  const isRefused =
    errors.every(({ extensions }) => extensions?.code === 'RATE_LIMIT_EXCEEDED') &&
    Object.values(data ?? {}).every((value) => value === null);
  return isRefused ? errors[0]?.message : undefined;
}

/** Creates a connection to a gateway. No network connection is opened before the first request. */
export function createConnection({ url, key, onWait }: GatewayOptions): Connection {
  let answered = false;

  /** Sends a request once and returns the response, even if the status of the response is an error. */
  async function exchange(address: URL, init: RequestInit): Promise<GatewayAnswer> {
    let response: Response;
    let text: string;
    try {
      response = await fetchFromGateway(address, init);
      text = await response.text();
    } catch (error) {
      if (error instanceof Failure) throw error;
      const reason = reasonOf(error);
      const { difference, temporary = false } = strangeAnswers.find(({ codes }) => codes.test(reason)) ?? {};
      if (difference !== undefined && !answered) throw notGateway(address.href, difference, { temporary });
      throw new Failure(
        `No answer from ${address.origin} (${reason}). Is the gateway running there?`,
        undefined,
        { temporary: true },
      );
    }
    try {
      return { response, body: JSON.parse(text) as unknown };
    } catch {
      const { status, headers } = response;
      // A proxy with its own rate limit often answers with an HTML page instead of JSON.
      if (status === tooManyRequests) return { response, body: undefined };
      const type = headers.get('Content-Type')?.split(';')[0] ?? 'text';
      throw notGateway(address.href, `status ${status} with ${type} instead of JSON`, {
        temporary: isGatewayFailure(response),
        retryAfterSeconds: retryAfterSeconds(response),
      });
    }
  }

  return {
    async repeat(request, stopping) {
      for (let failures = 1; ; failures += 1) {
        try {
          return await request();
        } catch (error) {
          // If the gateway has not answered any request on this connection, the user has probably given a wrong
          // address. With a wrong address, retries would only delay the error message.
          const mayHelp = error instanceof Failure && error.temporary && answered;
          if (!mayHelp || failures > maxRetries) throw error;
          const seconds = pauseOf(error, failures);
          onWait(error.message, seconds);
          await sleep(seconds * 1000, undefined, { signal: stopping });
        }
      }
    },
    async send(path, init, stopping) {
      const address = requestUrl(url, path);
      const headers = { ...init.headers, 'X-API-Key': key };
      for (let retries = 0; ; retries += 1) {
        const answer = await exchange(address, { ...init, headers });
        if (!isGatewayFailure(answer.response)) answered = true;
        const refusal = refusalOf(answer);
        if (refusal === undefined) return answer;
        if (retries === maxLimitRetries) {
          throw new Failure(`${printable(refusal)}, also after ${maxLimitRetries} retries. Try again later.`);
        }
        const seconds = retryAfterSeconds(answer.response) ?? 1;
        onWait(printable(refusal), seconds);
        await sleep(seconds * 1000, undefined, { signal: stopping });
      }
    },
  };
}
