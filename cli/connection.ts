import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';
import { fetchFromGateway, reasonOf } from './gateway-fetch.ts';

/** What a gateway answered. */
interface GatewayAnswer {
  response: Response;
  /** Its JSON. */
  body: unknown;
}

/** Sends requests to one gateway with one key. */
export interface Connection {
  /**
   * Sends a request once. What the rate limit refuses is sent again when `Retry-After` is over.
   *
   * @param path the path and query of the address
   * @throws {Failure} that is temporary when no gateway answered
   */
  send(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ): Promise<GatewayAnswer>;
  /** Whether the gateway has answered before. */
  hasAnswered(): boolean;
}

/** Where the gateway is, and who asks. */
export interface GatewayOptions {
  url: string;
  key: string;
  /** Is told why, and for how many seconds, a request waits. */
  onWait: (reason: string, seconds: number) => void;
}

/** The media type of a body. */
export const jsonType = { 'Content-Type': 'application/json' } as const;

/** Creates a connection. Nothing is sent before the first request. */
export function createConnection({ url, key, onWait }: GatewayOptions): Connection {
  let answered = false;

  /** Sends a request whatever the answer says. */
  async function exchange(address: URL, init: RequestInit): Promise<GatewayAnswer> {
    let response: Response;
    let text: string;
    try {
      response = await fetchFromGateway(address, init);
      text = await response.text();
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(
        `No answer from ${address.origin} (${reasonOf(error)}). Is the gateway running there?`,
        undefined,
        { temporary: true },
      );
    }
    try {
      return { response, body: JSON.parse(text) as unknown };
    } catch {
      throw new Failure(
        `${address.href} does not answer as a gateway does (status ${response.status}, no JSON). Is the address right?`,
        undefined,
        { temporary: response.status >= 500 },
      );
    }
  }

  return {
    hasAnswered: () => answered,
    async send(path, init) {
      const address = new URL(path, url);
      const headers = { ...init.headers, 'X-API-Key': key };
      for (;;) {
        const answer = await exchange(address, { ...init, headers });
        if (answer.response.status < 500) answered = true;
        if (answer.response.status !== 429) return answer;
        const seconds = Number(answer.response.headers.get('Retry-After') ?? 1);
        onWait('The rate limit of the key is reached', seconds);
        await sleep(seconds * 1000);
      }
    },
  };
}
