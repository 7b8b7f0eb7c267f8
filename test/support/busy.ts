import type { Cluster } from 'ioredis';
import { vi } from 'vitest';

/** Keeps the processor busy for the given number of milliseconds. */
export function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** How long the process is busy in `beBusyAfterNextCommand`, in milliseconds. */
const busyMs = 250;

/**
 * Keeps the process busy for 250 ms after the next command that the client `redis` sends. Redis answers while the
 * process is busy. Because the process is busy, it can read the response of Redis only after the command has reached
 * its time limit (150 ms).
 */
export function beBusyAfterNextCommand(redis: Pick<Cluster, 'sendCommand'>): void {
  const send = redis.sendCommand.bind(redis);
  vi.spyOn(redis, 'sendCommand').mockImplementationOnce((...command) => {
    const answer = send(...command);
    work(busyMs);
    return answer;
  });
}
