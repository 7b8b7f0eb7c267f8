import { once, setMaxListeners } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { attackOf } from './attacks.ts';
import type { AttackRequest } from './requests.ts';
import type { WorstWorld } from './seed.ts';

// This file runs in a separate process, which sends expensive requests of one kind (an attack) until the rate limit of
// one API key is used up.

/** The message with which the benchmark tells a separate process to send expensive requests. */
export interface SpendJob {
  attack: string;
  origin: string;
  world: WorstWorld;
  /** The number of expensive requests to send. At most `atOnce` requests run at the same time. */
  requests: number;
  atOnce: number;
  /** The time in seconds after which this process stops all requests that are still running. */
  maxSeconds: number;
}

/** A summary of the responses to the expensive requests. */
export interface SpendResult {
  seconds: number;
  /**
   * The number of requests for each HTTP status of the response. The status 0 stands for requests without a response,
   * and for requests whose response the client did not read to the end.
   */
  statuses: Record<number, number>;
  /**
   * The first 160 characters of the response texts. The client joins the texts of all responses for this property. The
   * benchmark prints this text, so that the user sees how the gateway answers the requests.
   */
  sample: string;
}

const sampleCharacters = 160;

async function spend({
  attack,
  origin,
  world,
  requests,
  atOnce,
  maxSeconds,
}: SpendJob): Promise<SpendResult> {
  const { build, reads } = attackOf(attack);
  const specs = build(world);
  const agent = new Agent({ keepAlive: true, maxSockets: requests });
  const statuses: Record<number, number> = {};
  let sample = '';
  let next = 0;
  const startedAt = performance.now();
  const secondsSpent = () => (performance.now() - startedAt) / 1000;
  const deadline = AbortSignal.timeout(maxSeconds * 1000);
  setMaxListeners(0, deadline);

  async function send({ path, body, ...options }: AttackRequest): Promise<number> {
    const request = httpRequest(new URL(path, origin), { ...options, agent, signal: deadline });
    request.on('error', () => undefined);
    // If the gateway rejects a request before the client has sent the whole body, the gateway closes the connection.
    // When the gateway closes the connection, the client gets a connection error, even if it has already read the
    // response. The client ignores this connection error.
    request.once('socket', (socket) => socket.on('error', () => undefined));
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    if (reads === 'nothing' && response.statusCode === 200) await once(deadline, 'abort');
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (sample.length < sampleCharacters) sample += chunk.toString('utf8', 0, sampleCharacters);
    }
    return response.statusCode!;
  }

  async function sendInTurn(): Promise<void> {
    while (next < requests && !deadline.aborted) {
      const status = await send(specs[next++ % specs.length]!).catch(() => 0);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  agent.destroy();
  return { seconds: secondsSpent(), statuses, sample: sample.slice(0, sampleCharacters) };
}

process.on('message', (job: SpendJob) => {
  spend(job).then(
    (result) => process.send!(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
