import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestSpec, trafficOf } from '../traffic.ts';
import type { World } from '../world.ts';

// This file runs in a separate process, which requests gate decisions for companies that send no expensive requests.
// The process sends its requests for gate decisions at a constant rate, without waiting for the responses to earlier
// requests.

/** The message that tells this process to start its requests for gate decisions. */
export interface GatesJob {
  origin: string;
  world: World;
}

/**
 * One request for a gate decision: the time of the request by the system clock, and the delay until the response
 * arrived. Both are in milliseconds.
 */
export interface Decision {
  askedAt: number;
  delay: number;
}

/** All gate decisions that this process requested before it received the message `stop`. */
export interface GatesResult {
  decisions: Decision[];
  /** The number of requests for gate decisions that failed or whose response did not have status 200. */
  failures: number;
}

const decisionsPerSecond = 200;
/**
 * The maximum number of connections to the gateway. With 1,000 connections, a free connection is available for each
 * request for a gate decision, even if the gateway does not respond for several seconds.
 */
const maxConnections = 1000;

const agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
const decisions: Decision[] = [];
let failures = 0;
let stopped = false;

async function ask(origin: string, { path, body, ...options }: RequestSpec): Promise<void> {
  const askedAt = Date.now();
  const startedAt = performance.now();
  try {
    const request = httpRequest(new URL(path, origin), { ...options, agent }).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    if (response.statusCode !== 200) failures += 1;
  } catch {
    failures += 1;
  }
  decisions.push({ askedAt, delay: performance.now() - startedAt });
}

async function askAll({ origin, world }: GatesJob): Promise<void> {
  const { build } = trafficOf('gate', 'gateway', world);
  const startedAt = performance.now();
  const asked: Promise<void>[] = [];
  while (!stopped) {
    if (startedAt + (asked.length * 1000) / decisionsPerSecond > performance.now()) await sleep(1);
    else asked.push(ask(origin, build(asked.length)));
  }
  await Promise.all(asked);
  agent.destroy();
  process.send!({ decisions, failures } satisfies GatesResult);
}

process.on('message', (message: GatesJob | 'stop') => {
  if (message === 'stop') stopped = true;
  else void askAll(message);
});
