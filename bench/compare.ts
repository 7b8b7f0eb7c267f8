import { isDeepStrictEqual } from 'node:util';
import type { ComparedCase } from './cases.ts';
import { peerNames, type Side, trafficOf } from './traffic.ts';
import { type Limit, startCeiling, statementsAlone } from './limits.ts';
import { alternate, type Bench, expectStatuses, type MeasuredSide } from './measure.ts';
import { type Figure, ratioOfPairs } from './pairs.ts';
import type { Server } from './processes.ts';
import type { CaseResult, SideFigures } from './report.ts';
import { removeCreated } from './seed.ts';

/**
 * Checks that the gateway and the other server (the peer) return equal responses, and then measures the speed of both
 * servers.
 */
export async function compare(bench: Bench, compared: ComparedCase): Promise<CaseResult> {
  const {
    name,
    title,
    peer,
    statuses,
    goal,
    lowerP99,
    traffic = name,
    tolerance,
    roundFactor = 1,
  } = compared;
  const names: Side[] = bench.peers ? ['gateway', peer] : ['gateway'];
  const servers: Server[] = [];
  try {
    for (const side of names) servers.push(await bench.start(side));
    const sides = names.map((side, index) => ({ side, label: side, server: servers[index]!, traffic }));
    if (bench.peers) await expectEqualAnswers(bench, compared, sides);
    const measured: MeasuredSide[] = [...sides];
    if (bench.peers && !isCeiling(peer)) {
      const server = await startCeiling(bench, compared, servers[0]!);
      servers.push(server);
      measured.push({ side: 'gateway', label: 'raw node:http', server, traffic });
    }
    const figuresOfCase = ([gateway, other]: SideFigures[]): Figure[] => {
      if (!bench.peers) return [];
      const figures: Figure[] = [
        {
          text: `requests/s, gateway ÷ ${peerNames[peer]}`,
          ...ratioOfPairs(gateway!.rates, other!.rates),
          ...(goal !== undefined && { least: goal }),
        },
      ];
      if (lowerP99) {
        const ratio = ratioOfPairs(gateway!.p99s, other!.p99s);
        figures.push({ text: `p99, gateway ÷ ${peerNames[peer]}`, ...ratio, most: 1 });
      }
      return figures;
    };
    const accept = expectStatuses(statuses, tolerance);
    const pairSeconds = bench.pairSeconds * roundFactor;
    const result = await alternate({ ...bench, pairSeconds }, measured, accept, figuresOfCase);
    const limits = bench.peers ? await limitsOf(bench, compared, result.sides[0]!, result.sides[2]) : [];
    return { name, title, ...result, limits };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/**
 * Whether a server is a plain Node server, which shows the highest speed that this machine can reach. If a benchmark
 * case already contains such a server, the benchmark does not start another plain Node server.
 */
const isCeiling = (side: Side) => side.startsWith('node-http');

async function limitsOf(
  bench: Bench,
  compared: ComparedCase,
  gateway: SideFigures,
  ceiling: SideFigures | undefined,
): Promise<Limit[]> {
  const limits: Limit[] = [];
  if (ceiling) {
    const { label, perSecond, rates } = ceiling;
    limits.push({ label, perSecond, reached: ratioOfPairs(gateway.rates, rates) });
  }
  const perSecond = await statementsAlone(bench, compared);
  if (perSecond !== undefined)
    limits.push({ label: 'pgbench', perSecond, reached: { value: gateway.perSecond / perSecond } });
  return limits;
}

/**
 * Sequence numbers of requests. The benchmark sends these requests to both servers before it measures a case. The
 * benchmark compares the gateway's response to each of these requests with the response of the other server (the peer).
 */
const comparedNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 30, 31];

async function expectEqualAnswers(
  bench: Bench,
  { name, statuses, data = {} }: ComparedCase,
  sides: readonly MeasuredSide[],
): Promise<void> {
  for (const number of comparedNumbers) {
    const answers: unknown[] = [];
    for (const { side, server, traffic } of sides) {
      const { path, ...request } = trafficOf(traffic, side, bench.world).build(number);
      let response = await fetch(server.origin + path, request);
      // In a benchmark case that expects the status 429, the first request can still be within the rate limit of the
      // API key. If the first request is within the rate limit, the benchmark sends the request again, and this second
      // request exceeds the rate limit.
      if (!statuses.includes(response.status)) response = await fetch(server.origin + path, request);
      const body = (await response.json()) as never;
      if (!statuses.includes(response.status))
        throw new Error(`${name}: ${side} answers ${response.status}: ${JSON.stringify(body).slice(0, 300)}`);
      answers.push({
        data: comparable(data[side]?.(body) ?? body),
        headers: sides.every((other) => sendsOurHeaders(other.side)) ? headerNames(response) : [],
      });
      await removeCreated(bench.database);
    }
    if (!isDeepStrictEqual(answers[0], answers[1])) {
      throw new Error(
        `${name}: the responses differ: ${answers.map((answer) => JSON.stringify(answer).slice(0, 600)).join('\n')}`,
      );
    }
  }
}

/**
 * Whether a server must send the same response headers as the gateway. The servers PostGraphile and SOFA may send other
 * response headers than the gateway.
 */
const sendsOurHeaders = (side: Side) => side !== 'postgraphile' && side !== 'sofa';
/**
 * The response headers that the comparison of two servers ignores, because these headers depend on the encoding, on the
 * connection or on the API.
 */
const transport = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

const headerNames = ({ headers }: Response) => [...headers.keys()].filter((name) => !transport.has(name));

const made = new Set(['createdAt', 'updatedAt', 'requestId', 'version']);

/**
 * Prepares a response body for the comparison with the response of another server. The function `comparable` removes
 * fields that differ from response to response, such as `requestId`. Different servers write the same time in different
 * formats, so `comparable` converts each time to a number.
 */
function comparable(value: unknown): unknown {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return Date.parse(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  const isNew = (value as { note?: unknown }).note === 'benchmark';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !made.has(key) && !(isNew && key === 'id'))
      .map(([key, item]) => [key, comparable(item)]),
  );
}
