import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { newId } from '../src/ids.ts';
import { type RequestSpec } from './traffic.ts';
import { median } from './pairs.ts';
import { startServer } from './processes.ts';
import { seedWorld } from './seed.ts';
import { createTarget } from './target.ts';
import { bulkLocations, locationId } from './world.ts';

// This benchmark checks that clients cannot learn from response times whether a location of another company exists. The
// benchmark sends requests for three locations, one location after the other: a location of another company, and two
// locations that do not exist. Because neither of these two locations exists, the gateway handles requests for both in
// the same way. A difference between the measured response times of these two locations is therefore only a measurement
// error.

const roundsOfEach = 4_000;
const warmUpRounds = 300;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function timeOf(origin: string, { path, body, ...options }: RequestSpec): Promise<number> {
  const startedAt = performance.now();
  const request = httpRequest(new URL(path, origin), { ...options, agent }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return performance.now() - startedAt;
}

const gate = `query ($id: ID!) { plateAccess(locationId: $id, plate: { plateType: "DXB", plateCode: "A", plateNumber: "1" }) { allowed } }`;
const byId = 'query ($id: ID!) { location(id: $id) { id } }';

/** The kinds of requests that the benchmark sends for each location. */
const questions: [string, (secret: string, id: string) => RequestSpec][] = [
  ...Object.entries({ plateAccess: gate, location: byId }).map(
    ([name, query]): [string, (secret: string, id: string) => RequestSpec] => [
      name,
      (secret, id) => ({
        method: 'POST',
        path: '/graphql',
        headers: { 'X-API-Key': secret, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, variables: { id } }),
      }),
    ],
  ),
  ...['status', 'whitelist'].map((part): [string, (secret: string, id: string) => RequestSpec] => [
    `GET ${part}`,
    (secret, id) => ({
      method: 'GET',
      path: `/api/locations/${id}/${part}`,
      headers: { 'X-API-Key': secret },
    }),
  ]),
];

const target = await createTarget();
const database = await target.open();
try {
  const { secrets } = await seedWorld(database, { pepper: target.pepper, million: false });
  await database.close();
  const server = await startServer({ script: 'server', env: target.env });
  try {
    const ids = {
      foreign: () => locationId(bulkLocations.hundredThousand),
      unknown: newId,
      'also unknown': newId,
    };
    for (const [name, build] of questions) {
      const times: Record<string, number[]> = {};
      for (let round = -warmUpRounds; round < roundsOfEach; round += 1) {
        const turn = Object.entries(ids);
        // The benchmark reverses the order of the locations in every other round, so that the order does not affect the
        // comparison.
        const order = round % 2 ? turn : turn.reverse();
        for (const [kind, id] of order) {
          const time = await timeOf(server.origin, build(secrets[0]!, id()));
          if (round >= 0) (times[kind] ??= []).push(time * 1000);
        }
      }
      const medians = Object.fromEntries(
        Object.entries(times).map(([kind, values]) => [kind, median(values)]),
      );
      const difference = medians.foreign! - medians.unknown!;
      const noise = medians['also unknown']! - medians.unknown!;
      console.log(
        `${name}: foreign ${medians.foreign!.toFixed(1)} µs, unknown ${medians.unknown!.toFixed(1)} µs, ` +
          `difference ${difference.toFixed(1)} µs, of two unknown ones ${noise.toFixed(1)} µs`,
      );
    }
  } finally {
    agent.destroy();
    await server.stop();
  }
} finally {
  await target.drop();
}
