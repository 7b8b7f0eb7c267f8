import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { type Figure, inRandomOrder, measureUntilDecided, median, ratioOfPairs, spreadOf } from './pairs.ts';
import { residentMemory, type Server, watchMemory } from './processes.ts';
import type { CaseResult } from './report.ts';
import { bulkLocations, locationId, referenceId } from './world.ts';

// This file measures responses with a list of 100,000 whitelist entries: their duration, their memory use, and their
// effect on gate decisions.

interface Fetched {
  firstByteMs: number;
  totalMs: number;
  bytes: number;
}

/**
 * Reads a whitelist from the gateway, as a fast or slow client.
 *
 * @param pauseMs how long the client pauses after each chunk of up to 64 KiB, in milliseconds
 * @param signal an AbortSignal that makes the client stop before the end of the whitelist
 */
async function fetchList(
  server: Server,
  secret: string,
  path: string,
  { pauseMs = 0, signal }: { pauseMs?: number; signal?: AbortSignal } = {},
): Promise<Fetched> {
  const startedAt = performance.now();
  const request = httpRequest(server.origin + path, { headers: { 'X-API-Key': secret } }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let firstByteMs = 0;
  let bytes = 0;
  let end = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    firstByteMs ||= performance.now() - startedAt;
    bytes += chunk.length;
    end = chunk.subarray(-2).toString();
    if (pauseMs > 0) await sleep(pauseMs);
    if (signal?.aborted) {
      response.destroy();
      return { firstByteMs, totalMs: Number.NaN, bytes };
    }
  }
  if (response.statusCode !== 200 || end !== ']}') throw new Error(`${path} answers ${response.statusCode}`);
  return { firstByteMs, totalMs: performance.now() - startedAt, bytes };
}

async function repeat<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let turn = 0; turn < times; turn++) results.push(await work());
  return results;
}

const listPath = (position: number, reference?: string) =>
  `/api/locations/${locationId(position)}/whitelist${reference ? `?referenceId=${reference}` : ''}`;

/** While slow clients read whole lists, another client requests this number of gate decisions per second. */
const gateRate = 200;
const gateConnections = 10;
const longLists = 5;
/**
 * `count` slow clients read the list of 100,000 whitelist entries at the same time. After each chunk, a slow client
 * pauses for `pauseMs` milliseconds, so that the client reads about 1 MiB/s.
 */
const slowReaders = { count: 10, pauseMs: 60 };

/** Starts a gateway, and returns functions that read long lists of whitelist entries from the gateway. */
async function openLists(bench: Bench, nodeOptions: string[]) {
  const server = await bench.start('gateway', nodeOptions);
  const load = bench.startLoad();
  const { bulkSecret } = bench.world;
  const position = bulkLocations.hundredThousand;
  const shortPath = listPath(position, referenceId(7, 100_000));
  const ask = (traffic: string, seconds: number, rate?: number) =>
    load.run({
      traffic,
      side: 'gateway',
      origin: server.origin,
      world: bench.world,
      seconds,
      connections: gateConnections,
      from: freshNumbers(),
      rate,
    });
  const short = () => fetchList(server, bulkSecret, shortPath);
  // Before the measurement, the benchmark requests gate decisions and short lists, so that the heap of the gateway
  // grows to its usual size. The usual size of the heap includes garbage that V8 has not collected yet.
  await ask('gate', bench.warmUpSeconds);
  await ask('list-1000', bench.warmUpSeconds * 2);
  await repeat(30, short);
  return {
    server,
    ask,
    short,
    long: () => fetchList(server, bulkSecret, listPath(position)),
    slow: (signal: AbortSignal) =>
      fetchList(server, bulkSecret, listPath(position), { pauseMs: slowReaders.pauseMs, signal }),
    async close() {
      load.stop();
      await server.stop();
    },
  };
}
type Lists = Awaited<ReturnType<typeof openLists>>;

/**
 * Reads short and long lists while there is no other load, and measures how much the memory of the gateway process
 * grows, in MiB.
 */
async function readAlone({ server, short, long }: Lists) {
  const baseline = (await residentMemory(server.pid)) ?? Number.NaN;
  const memory = watchMemory(server.pid);
  const shorts: Fetched[] = [];
  const longs: Fetched[] = [];
  for (let turn = 0; turn < longLists; turn++) {
    shorts.push(...(await repeat(10, short)));
    longs.push(await long());
  }
  return { baseline, growth: memory.stop() - baseline, shorts, longs };
}

/**
 * Lets slow clients read long lists of whitelist entries while the function `work` runs, and stops the slow clients
 * when `work` ends.
 */
async function whileReadSlowly<Result>({ slow }: Lists, work: () => Promise<Result>): Promise<Result> {
  const done = new AbortController();
  const readers = Array.from({ length: slowReaders.count }, () => slow(done.signal));
  try {
    return await work();
  } finally {
    done.abort();
    await Promise.all(readers);
  }
}

/**
 * Measures the response times of gate decisions in pairs of short measurements. In each pair of measurements, slow
 * clients read long lists during only one of the two measurements. The function also measures the maximum memory of the
 * gateway in each short measurement.
 */
async function gatesBesideReaders(bench: Bench, lists: Lists) {
  const gates = async () => {
    const memory = watchMemory(lists.server.pid);
    const result = await lists.ask('gate', bench.longRoundSeconds, gateRate);
    expectStatuses([200])(result);
    return { ...result, peakMemory: memory.stop() };
  };
  type Round = Awaited<ReturnType<typeof gates>>;
  const rounds = { quiet: gates, busy: () => whileReadSlowly(lists, gates) };
  const results: Record<keyof typeof rounds, Round[]> = { quiet: [], busy: [] };
  const valuesOf = (figure: 'p50' | 'p99' | 'peakMemory') => ({
    quiet: results.quiet.map((round) => round[figure]),
    busy: results.busy.map((round) => round[figure]),
  });
  const figures = (): Figure[] => {
    const [memory, p99] = [valuesOf('peakMemory'), valuesOf('p99')];
    const growths = memory.busy.map((peak, pair) => peak - memory.quiet[pair]!);
    return [
      { text: 'memory growth with ten slow readers, in MiB', ...spreadOf(growths), most: 64 },
      { text: 'gate p99, with slow readers ÷ without', ...ratioOfPairs(p99.busy, p99.quiet), most: 3 },
    ];
  };
  async function measurePair(): Promise<void> {
    for (const side of inRandomOrder(['quiet', 'busy'] as const)) results[side].push(await rounds[side]());
  }
  await measureUntilDecided(bench.pairs, measurePair, figures);
  return { p50: valuesOf('p50'), p99: valuesOf('p99'), figures: figures() };
}

/**
 * Returns the median time in which the hand-written server (the peer) sends the list of 100,000 whitelist entries, in
 * milliseconds.
 */
async function totalOfPeer(bench: Bench): Promise<number> {
  const peer = await bench.start('hand-written');
  try {
    const read = () => fetchList(peer, bench.world.bulkSecret, listPath(bulkLocations.hundredThousand));
    await repeat(2, read);
    return median((await repeat(longLists, read)).map(({ totalMs }) => totalMs));
  } finally {
    await peer.stop();
  }
}

/**
 * The maximum size of the V8 heap in MB. In a larger heap, V8 would collect garbage later, and the benchmark would
 * count this garbage as memory growth of the gateway.
 */
const smallHeap = 160;

/**
 * Measures how the gateway sends a list of 100,000 whitelist entries: without other load, with slow clients, and in
 * comparison with a hand-written server.
 */
export async function wholeList(bench: Bench): Promise<CaseResult> {
  const small = await openLists(bench, [`--max-old-space-size=${smallHeap}`]);
  const inSmallHeap = await readAlone(small).finally(() => small.close());
  const lists = await openLists(bench, []);
  try {
    const { baseline, growth, shorts, longs } = await readAlone(lists);
    const gates = await gatesBesideReaders(bench, lists);
    const firstByte = median(longs.map(({ firstByteMs }) => firstByteMs));
    const firstByteOfTen = median(shorts.map(({ firstByteMs }) => firstByteMs));
    const total = median(longs.map(({ totalMs }) => totalMs));
    const peerTotal = bench.peers ? await totalOfPeer(bench) : undefined;
    return {
      name: 'list-100000',
      title: 'Whole list of 100,000',
      sides: [],
      figures: [
        { text: 'time to first byte, this list ÷ list of 10', value: firstByte / firstByteOfTen, most: 3 },
        ...(peerTotal
          ? [{ text: 'total time, gateway ÷ hand-written', value: total / peerTotal, most: 1.2 }]
          : []),
        ...gates.figures,
      ],
      notes: [
        `first byte ${firstByte.toFixed(2)} ms (list of 10: ${firstByteOfTen.toFixed(2)} ms), ` +
          `total ${total.toFixed(0)} ms for ${(longs[0]!.bytes / 2 ** 20).toFixed(1)} MiB` +
          (peerTotal ? `, hand-written ${peerTotal.toFixed(0)} ms` : ''),
        `memory from ${baseline.toFixed(0)} MiB, one fast reader grows it by ${growth.toFixed(0)} MiB; with --max-old-space-size=${smallHeap} it grows by ` +
          `${inSmallHeap.growth.toFixed(0)} MiB from ${inSmallHeap.baseline.toFixed(0)} MiB`,
        `gates at ${gateRate}/s: quiet p50 ${median(gates.p50.quiet).toFixed(2)} p99 ${median(gates.p99.quiet).toFixed(2)} ms, ` +
          `meanwhile p50 ${median(gates.p50.busy).toFixed(2)} p99 ${median(gates.p99.busy).toFixed(2)} ms`,
      ],
    };
  } finally {
    await lists.close();
  }
}
