import type { ServerResponse } from 'node:http';
import { ServiceError } from '../../errors/error-table.ts';
import { slotLimits } from '../../scheduling/limits.ts';

/** The limits of one process on concurrent requests, and on response bytes that clients have not read yet. */
export interface RequestLimits {
  /** The maximum number of requests of one API key that run at the same time. */
  maxRunningPerKey: number;
  /** The maximum number of requests of one API key that wait to run. */
  maxWaitingPerKey: number;
  /**
   * The maximum number of response bytes that the clients with one API key may leave unread. While more than
   * `maxUnreadBytesPerKey` response bytes of an API key are unread, the next request of the API key waits.
   */
  maxUnreadBytesPerKey: number;
  /**
   * The maximum number of response bytes that the clients of this process have not read yet. If more than
   * `maxUnreadBytes` response bytes are unread, the process closes connections. The process first closes connections of
   * the API key with the most unread response bytes.
   */
  maxUnreadBytes: number;
  /** The interval at which the process counts the unread response bytes, in milliseconds. */
  checkIntervalMs: number;
}

export const requestLimits: RequestLimits = {
  maxRunningPerKey: slotLimits.requests.runningPerOwner,
  maxWaitingPerKey: slotLimits.requests.waiting.perOwner,
  maxUnreadBytesPerKey: 16 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  checkIntervalMs: 100,
};

/** The requests that one process is answering, grouped by API key. */
export interface RequestsInProgress {
  /**
   * Waits until a request may run, and then counts the request as running. The oldest waiting request of an API key
   * runs first.
   *
   * @param answer the response object of Node; `undefined` for a request without a network connection, for example from
   *   a test
   * @param heldBytes a function that returns how many bytes of the response the process keeps in memory, without the
   *   bytes in the buffers of the connection
   * @returns a function that the caller must call once, when the handler of the request has ended
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many requests of the API key are waiting. Instead of throwing
   *   this error, `begin` returns a promise that rejects with the error
   */
  begin(
    keyId: string,
    answer: ServerResponse | undefined,
    heldBytes?: () => number,
  ): EndRequest | Promise<EndRequest>;
}

/**
 * Reports that the handler of a request has ended. A request counts as running until its handler ends, even if the
 * client has disconnected, because the handler still uses the process and the database.
 *
 * @param whenSent If `whenSent` is true, the request counts as running until its response is written or its connection
 *   is closed. If `whenSent` is false, the request counts as running only until the caller calls this function
 */
export type EndRequest = (whenSent: boolean) => void;

/** A request in progress, together with the `ServerResponse` object (from Node) of its response. */
interface AnsweredRequest {
  answer: ServerResponse | undefined;
  heldBytes: () => number;
}

/** The running and the waiting requests of one API key. */
interface RequestsOfKey {
  running: Set<AnsweredRequest>;
  waiting: Set<{ start: () => void }>;
}

/** Returns the number of bytes of a response that the client has not read yet. */
const unreadBytes = ({ answer, heldBytes }: AnsweredRequest) => (answer?.writableLength ?? 0) + heldBytes();

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

const tooManyWaiting = new ServiceError('RATE_LIMIT_EXCEEDED', slotLimits.requests.waiting.refusal);

/**
 * Creates the object that limits the concurrent requests in one process
 * (docs/contract-keys.md#effect-of-one-request-on-others).
 */
export function createRequestsInProgress(limits: RequestLimits = requestLimits): RequestsInProgress {
  const keys = new Map<string, RequestsOfKey>();
  let timer: NodeJS.Timeout | undefined;

  function unreadOf({ running }: RequestsOfKey): number {
    let bytes = 0;
    for (const request of running) bytes += unreadBytes(request);
    return bytes;
  }

  const mayRun = (key: RequestsOfKey) =>
    key.running.size < limits.maxRunningPerKey && unreadOf(key) <= limits.maxUnreadBytesPerKey;

  function run(keyId: string, key: RequestsOfKey, request: AnsweredRequest): EndRequest {
    const { answer } = request;
    const end = () => {
      if (!key.running.delete(request)) return;
      startWaiting(keyId, key);
    };
    key.running.add(request);
    return (whenSent) => {
      if (whenSent && answer && !answer.closed) answer.once('close', end);
      else end();
    };
  }

  /**
   * Starts as many waiting requests of an API key as the limits of this API key allow. If an API key has no more
   * running requests, the function removes it from the map `keys`.
   */
  function startWaiting(keyId: string, key: RequestsOfKey): void {
    for (const { start } of key.waiting) {
      if (!mayRun(key)) return;
      start();
    }
    if (key.running.size === 0) keys.delete(keyId);
  }

  function wait(keyId: string, key: RequestsOfKey, request: AnsweredRequest): Promise<EndRequest> {
    const { answer } = request;
    if (key.waiting.size >= limits.maxWaitingPerKey) return Promise.reject(tooManyWaiting);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        key.waiting.delete(waiting);
        reject(tooManyWaiting); // the client has disconnected and never sees this error
      };
      const waiting = {
        start: () => {
          key.waiting.delete(waiting);
          answer?.off('close', giveUp);
          resolve(run(keyId, key, request));
        },
      };
      key.waiting.add(waiting);
      answer?.once('close', giveUp);
    });
  }

  /**
   * Closes connections with unread responses while the unread response bytes of all connections together exceed
   * `maxUnreadBytes`.
   */
  function cutLargest(): void {
    const unread = new Map([...keys.values()].map((key) => [key, unreadOf(key)]));
    let total = sum([...unread.values()]);
    while (total > limits.maxUnreadBytes) {
      const [[key]] = [...unread].sort(([, a], [, b]) => b - a) as [[RequestsOfKey, number]];
      const [largest] = [...key.running].sort((a, b) => unreadBytes(b) - unreadBytes(a));
      const freed = unreadBytes(largest!);
      if (freed === 0) return;
      largest!.answer?.destroy();
      key.running.delete(largest!);
      unread.set(key, unread.get(key)! - freed);
      total -= freed;
    }
  }

  function check(): void {
    cutLargest();
    for (const [keyId, key] of keys) startWaiting(keyId, key);
    if (keys.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin(keyId, answer, heldBytes = () => 0) {
      timer ??= setInterval(check, limits.checkIntervalMs).unref();
      let key = keys.get(keyId);
      if (!key) {
        key = { running: new Set(), waiting: new Set() };
        keys.set(keyId, key);
      }
      const request = { answer, heldBytes };
      return key.waiting.size === 0 && mayRun(key) ? run(keyId, key, request) : wait(keyId, key, request);
    },
  };
}
