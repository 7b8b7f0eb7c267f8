import autocannon from 'autocannon';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestSpec, type Side, trafficOf } from './traffic.ts';
import type { World } from './world.ts';

// This file runs in a separate process, which sends the requests of a measurement to one server. The measured servers
// run in other processes, so the work of sending requests does not block the servers.

/**
 * The settings of one measurement: the kind of requests, the server that gets the requests, the duration, and the
 * number of connections.
 */
export interface LoadJob {
  /** The name of the kind of requests to send. */
  traffic: string;
  side: Side;
  origin: string;
  world: World;
  seconds: number;
  connections: number;
  /**
   * In the benchmark, each request has a number. This field is the number of the first request that the measurement
   * sends. Two requests of the same kind with the same number are identical. If the requests create objects such as
   * whitelist entries, each measurement must use its own request numbers.
   */
  from: number;
  /**
   * How many requests the process sends per second. If `rate` is omitted, each connection sends its next request as
   * soon as it has received a response.
   */
  rate?: number | undefined;
}

/** The results of one measurement. */
export interface LoadResult {
  answers: number;
  /**
   * The first request number that this measurement has not used, so the next measurement can start with this request
   * number.
   */
  next: number;
  seconds: number;
  p50: number;
  p99: number;
  /**
   * The number of responses for each HTTP status. `statuses[0]` is the number of responses with status 200 that contain
   * a GraphQL error.
   */
  statuses: Record<number, number>;
  failures: number;
}

/** How many requests a load process builds for each of its connections before the measurement starts. */
const preparedRequests = 100;

const hasGraphqlErrors = (body: string) => body.startsWith('{"errors"');

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

function resultOf(
  latencies: number[],
  seconds: number,
  rest: Pick<LoadResult, 'next' | 'statuses' | 'failures'>,
) {
  latencies.sort((a, b) => a - b);
  return {
    answers: latencies.length,
    seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    ...rest,
  };
}

/**
 * Sends requests as fast as the server can answer them. Each connection sends its next request as soon as it has
 * received a response.
 */
async function saturate(job: LoadJob): Promise<LoadResult> {
  const { build, fresh } = trafficOf(job.traffic, job.side, job.world);
  const latencies: number[] = [];
  const statuses: Record<number, number> = {};
  let next = job.from;
  const startedAt = performance.now();
  const run = autocannon({
    url: job.origin,
    connections: job.connections,
    duration: job.seconds,
    sampleInt: 50,
    ...(fresh && { requests: [{ setupRequest: (request) => ({ ...request, ...build(next++) }) }] }),
    setupClient(client) {
      if (!fresh) client.setRequests(Array.from({ length: preparedRequests }, () => build(next++)));
      client.on('response', (status, _bytes, milliseconds) => {
        latencies.push(milliseconds);
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
    },
    verifyBody: (body: string) => !hasGraphqlErrors(body),
  } as autocannon.Options);
  const { errors, mismatches } = await run;
  const seconds = (performance.now() - startedAt) / 1000;
  statuses[0] = mismatches;
  return resultOf(latencies, seconds, { next, statuses, failures: errors });
}

/** Sends requests at a constant rate, without waiting for the responses to earlier requests. */
async function pace(job: LoadJob, rate: number): Promise<LoadResult> {
  const { build } = trafficOf(job.traffic, job.side, job.world);
  const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
  const latencies: number[] = [];
  const statuses: Record<number, number> = { 0: 0 };
  let failures = 0;

  async function ask(spec: RequestSpec, due: number): Promise<void> {
    const { path, body, ...options } = spec;
    const request = httpRequest(new URL(path, job.origin), { ...options, agent }).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const answer = await text(response);
    latencies.push(performance.now() - due);
    const status = response.statusCode!;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (hasGraphqlErrors(answer)) statuses[0]! += 1;
  }

  const asked: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = Math.round(rate * job.seconds);
  while (asked.length < total) {
    const due = startedAt + (asked.length * 1000) / rate;
    if (due > performance.now()) await sleep(1);
    else asked.push(ask(build(job.from + asked.length), performance.now()).catch(() => void failures++));
  }
  await Promise.all(asked);
  agent.destroy();
  return resultOf(latencies, (performance.now() - startedAt) / 1000, {
    next: job.from + total,
    statuses,
    failures,
  });
}

process.on('message', (job: LoadJob) => {
  (job.rate === undefined ? saturate(job) : pace(job, job.rate)).then(
    (result) => process.send!(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
