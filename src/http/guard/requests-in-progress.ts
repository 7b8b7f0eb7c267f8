import type { ServerResponse } from 'node:http';
import { ServiceError } from '../../errors/error-table.ts';
import { slotLimits } from '../../scheduling/limits.ts';

/** The limits on concurrent requests and on unread response bytes in one process. */
export interface RequestLimits {
  /** The maximum number of requests of one API key that run at the same time. */
  maxRunningPerKey: number;
  /** The maximum number of requests of one API key that wait. */
  maxWaitingPerKey: number;
  /**
   * The maximum number of response bytes of one API key that its clients have not read. While there are more unread
   * bytes, the next request of the key waits.
   */
  maxUnreadBytesPerKey: number;
  /**
   * The maximum number of unread response bytes of all API keys together. While there are more unread bytes, the
   * process closes connections of the key with the most unread bytes.
   */
  maxUnreadBytes: number;
  /** How often the process counts the unread response bytes, in milliseconds. */
  checkIntervalMs: number;
}

export const requestLimits: RequestLimits = {
  maxRunningPerKey: slotLimits.requests.runningPerOwner,
  maxWaitingPerKey: slotLimits.requests.waiting.perOwner,
  maxUnreadBytesPerKey: 16 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  checkIntervalMs: 100,
};

/** The requests that one process is answering, for each API key. */
export interface RequestsInProgress {
  /**
   * Waits until a request may run, and counts it as running. The oldest waiting request of an API key runs first.
   *
   * @param answer the Node response. The request counts as running until the response is written or its connection is
   *   closed. A request from within the process has no Node response, and counts until the returned function is called
   * @param heldBytes returns the number of unread response bytes that are not in the buffers of the connection
   * @returns a function that ends the request earlier
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` (as a rejected promise) when too many requests of the key wait
   */
  begin(
    keyId: string,
    answer: ServerResponse | undefined,
    heldBytes?: () => number,
  ): EndRequest | Promise<EndRequest>;
}

type EndRequest = () => void;

/** A request in progress, with the Node response to it. */
interface AnsweredRequest {
  answer: ServerResponse | undefined;
  heldBytes: () => number;
}

/** The running and the waiting requests of one API key. */
interface RequestsOfKey {
  running: Set<AnsweredRequest>;
  waiting: Set<{ start: () => void }>;
}

/** Returns how many bytes of a response the client has not read yet. */
const unreadBytes = ({ answer, heldBytes }: AnsweredRequest) => (answer?.writableLength ?? 0) + heldBytes();

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

const tooManyWaiting = new ServiceError('RATE_LIMIT_EXCEEDED', slotLimits.requests.waiting.refusal);

/**
 * Creates the object that limits the concurrent requests in one process
 * (docs/contract.md#effect-of-one-request-on-others).
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
    answer?.once('close', end);
    return end;
  }

  /**
   * Starts the waiting requests of an API key that may run now. If a key has no requests left, it is removed from the
   * map.
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
        reject(tooManyWaiting); // the client has disconnected and does not see this error
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

  /** Closes connections until the number of unread bytes in the process is within the limit. */
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
      // The client may have disconnected while the key was looked up. The request is then not counted, because no close
      // event would end it.
      if (answer?.closed) return () => undefined;
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
