import { isDeepStrictEqual } from 'node:util';
import { type ComparedCase, type Side, trafficOf } from './cases.ts';
import { type Limit, startCeiling, statementsAlone } from './limits.ts';
import { alternate, type Bench, expectStatuses, type MeasuredSide } from './measure.ts';
import { ratioOfPairs } from './pairs.ts';
import type { Server } from './processes.ts';
import type { CaseResult, SideFigures } from './report.ts';
import { removeCreated } from './seed.ts';

/** Measures a case against its peer, after making sure that both give the same answers. */
export async function compare(bench: Bench, compared: ComparedCase): Promise<CaseResult> {
  const { name, title, peer, statuses, goal, lowerP99, traffic = name, tolerance } = compared;
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
    const figures = await alternate(bench, measured, expectStatuses(statuses, tolerance));
    const gateway = figures[0];
    const other = bench.peers ? figures[1] : undefined;
    const ratio = other && ratioOfPairs(gateway!.rates, other.rates);
    return {
      name,
      title,
      sides: figures,
      ...(ratio !== undefined && { ratio }),
      goals: other
        ? [
            ...(goal ? [{ text: 'throughput to peer', ...ratio!, least: goal }] : []),
            ...(lowerP99
              ? [{ text: 'p99 to peer', ...ratioOfPairs(gateway!.p99s, other.p99s), most: 1 }]
              : []),
          ]
        : [],
      limits: bench.peers ? await limitsOf(bench, compared, gateway!, figures[2]) : [],
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Peers that are a limit themselves. */
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

/** Requests whose answers are compared. */
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
      // A limit is reached by the second request.
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
        `${name}: the answers differ: ${answers.map((answer) => JSON.stringify(answer).slice(0, 600)).join('\n')}`,
      );
    }
  }
}

/** Peers that are to send the headers of the gateway. */
const sendsOurHeaders = (side: Side) => side !== 'postgraphile' && side !== 'sofa';
/** What depends on how a body was written, on the connection, and on the surface that answers. */
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

/** An answer without what each request has of its own; times as the instants that they are. */
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
