import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';
import { fetchFromGateway, notGateway, reasonOf, retryAfterSeconds } from './gateway-fetch.ts';

/** A response of a gateway to a request of the command line. */
interface GatewayAnswer {
  response: Response;
  /** The response body, parsed as JSON. */
  body: unknown;
}

/** Sends requests to one gateway with one API key. */
export interface Connection {
  /**
   * Sends a request once. Only after a response with status 429, the connection waits for `Retry-After` and sends the
   * request again.
   *
   * @param path the path and query of the address
   * @param stopping ends the wait for the rate limit, with an AbortError
   * @throws {Failure} that is temporary when no gateway answered
   */
  send(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
    stopping?: AbortSignal,
  ): Promise<GatewayAnswer>;
  /** Whether the gateway has answered any request of this connection. */
  hasAnswered(): boolean;
}

/** The address of the gateway and the API key. */
export interface GatewayOptions {
  url: string;
  key: string;
  /** Called when a request has to wait, with the reason and the number of seconds. */
  onWait: (reason: string, seconds: number) => void;
}

/** The header that says that a request body is JSON. */
export const jsonType = { 'Content-Type': 'application/json' } as const;

/** The error codes that mean that the server does not speak HTTP, with a text for the error message. */
const strangeAnswers: { codes: RegExp; difference: string; temporary?: boolean }[] = [
  { codes: /^HPE_/, difference: 'its answer is not HTTP (a TLS port needs https://)' },
  { codes: /^(ERR_SSL_|EPROTO)/, difference: 'its answer is not TLS (a port without TLS needs http://)' },
  // This failure is temporary, because a stopping gateway also closes connections.
  { codes: /^(UND_ERR_SOCKET|ECONNRESET)$/, difference: 'it closed the connection', temporary: true },
];

/** Creates a connection to a gateway. The network connection is opened by the first request. */
export function createConnection({ url, key, onWait }: GatewayOptions): Connection {
  let answered = false;

  /** Sends a request and returns its response. The response can be an error. */
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
      const type = headers.get('Content-Type')?.split(';')[0] ?? 'text';
      throw notGateway(address.href, `status ${status} with ${type} instead of JSON`, {
        temporary: status >= 500,
      });
    }
  }

  return {
    hasAnswered: () => answered,
    async send(path, init, stopping) {
      const address = new URL(path, url);
      const headers = { ...init.headers, 'X-API-Key': key };
      for (;;) {
        const answer = await exchange(address, { ...init, headers });
        if (answer.response.status < 500) answered = true;
        if (answer.response.status !== 429) return answer;
        const seconds = retryAfterSeconds(answer.response) ?? 1;
        onWait('The rate limit of the key is reached', seconds);
        await sleep(seconds * 1000, undefined, { signal: stopping });
      }
    },
  };
}
