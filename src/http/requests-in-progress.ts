import type { ServerResponse } from 'node:http';
import { ServiceError } from '../errors/error-table.ts';

/** What the requests of one key may take of a process. */
export interface RequestLimits {
  /** Requests of a key that are answered at once: more than the gates of a company send while a location is locked. */
  maxRunningPerKey: number;
  /** Requests of a key that wait: each holds its connection and its headers, since its body is not read yet. */
  maxWaitingPerKey: number;
  /** Bytes of answers that a key has not read: with more, its next request waits. */
  maxUnreadBytesPerKey: number;
  /** Bytes of answers that no client has read: with more, the key that holds most loses a connection. */
  maxUnreadBytes: number;
  /** How often the bytes are counted, in milliseconds. */
  checkIntervalMs: number;
}

export const requestLimits: RequestLimits = {
  maxRunningPerKey: 50,
  maxWaitingPerKey: 1_000,
  maxUnreadBytesPerKey: 16 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  checkIntervalMs: 100,
};

/** The requests that one process is answering, by their keys. */
export interface RequestsInProgress {
  /**
   * Counts a request as running, at once or when it is its turn; the oldest one of a key comes first.
   *
   * @param answer the request runs until its answer is written or its connection is closed; without an answer, for a
   *   request within the process, until it is ended
   * @param heldBytes bytes of the answer that wait in memory besides those that its connection has in its buffers
   * @returns what ends it earlier
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` (as a rejection) when too many requests of the key wait
   */
  begin(
    keyId: string,
    answer: ServerResponse | undefined,
    heldBytes?: () => number,
  ): EndRequest | Promise<EndRequest>;
}

type EndRequest = () => void;

/** A request with its answer. */
interface AnsweredRequest {
  answer: ServerResponse | undefined;
  heldBytes: () => number;
}

/** What is answered of one key, and who waits. */
interface RequestsOfKey {
  running: Set<AnsweredRequest>;
  waiting: Set<{ start: () => void }>;
}

/** Bytes of an answer that are made and that the client has not taken. */
const unreadBytes = ({ answer, heldBytes }: AnsweredRequest) => (answer?.writableLength ?? 0) + heldBytes();

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

const tooManyWaiting = new ServiceError(
  'RATE_LIMIT_EXCEEDED',
  'Too many requests of this API key are waiting, please try again later',
);

/** Creates the count of one process (decisions, "what one request may do to others"). */
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

  /** Starts the requests whose turn it is; a key without any is forgotten. */
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
        reject(tooManyWaiting); // nobody is there to read it
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

  /** Cuts connections until the unread bytes of the process are within the bound. */
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
