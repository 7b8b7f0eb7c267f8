import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type ComparedCase, trafficOf } from './cases.ts';
import { type Bench, freshNumbers } from './measure.ts';
import type { Spread } from './pairs.ts';
import type { Server } from './processes.ts';

// What a case cannot be faster than on this machine: the same answers from Node's own HTTP server, which looks at
// nothing, and the same statements from pgbench, which does nothing else.

/** A limit of a case: requests per second without the gateway, and how much of it the gateway reaches. */
export interface Limit {
  label: string;
  perSecond: number;
  reached: Partial<Spread> & { value: number };
}

/** An answer as it is sent. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What the server sets for each connection. */
const ofTheConnection = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

async function answerOf(
  { name, traffic = name, statuses }: ComparedCase,
  gateway: Server,
  { world }: Bench,
): Promise<RawAnswer> {
  const { path, ...request } = trafficOf(traffic, 'gateway', world).build(freshNumbers());
  const ask = () =>
    fetch(gateway.origin + path, {
      ...request,
      headers: { ...request.headers, 'Accept-Encoding': 'identity' },
    });
  let response = await ask();
  // A limit is reached by the second request.
  if (!statuses.includes(response.status)) response = await ask();
  const headers = [...response.headers].filter(([name]) => !ofTheConnection.has(name));
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** Starts a server of Node alone that gives every request the gateway's answer to one of them. */
export async function startCeiling(bench: Bench, compared: ComparedCase, gateway: Server): Promise<Server> {
  return bench.startRaw(await answerOf(compared, gateway, bench));
}

/** Requests whose statements pgbench repeats, each with the values of that request. */
const sampledRequests = 20;

/** What the gateway asks of PostgreSQL, asked by pgbench; undefined without it, or when nothing is asked. */
export async function statementsAlone(
  bench: Bench,
  { name, traffic = name }: ComparedCase,
): Promise<number | undefined> {
  if (!bench.postgres) return undefined;
  const { build } = trafficOf(traffic, 'gateway', bench.world);
  const gateway = await bench.openHere();
  const scripts: string[] = [];
  try {
    const ask = async (n: number) => {
      const { path, ...request } = build(n);
      const response = await gateway.app.request(path, request);
      await response.arrayBuffer();
    };
    const first = freshNumbers();
    // The first ones look their keys up.
    for (let n = 0; n < sampledRequests; n++) await ask(first + n);
    for (let n = first + sampledRequests; n < first + 2 * sampledRequests; n++) {
      const statements = await statementsOf(() => ask(n));
      if (statements.length > 0) scripts.push(scriptOf(statements, n));
    }
  } finally {
    await gateway.close();
  }
  return scripts.length === 0 ? undefined : runPgbench(scripts, bench.postgres, bench.pairSeconds);
}

async function runPgbench(
  scripts: readonly string[],
  { url, poolSize }: { url: string; poolSize: number },
  seconds: number,
): Promise<number | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'parking-bench-'));
  try {
    const files = scripts.map((_, index) => join(folder, `${index}.sql`));
    await Promise.all(files.map((file, index) => writeFile(file, scripts[index]!)));
    const settings = ['--no-vacuum', '--protocol=prepared', `--client=${poolSize}`];
    const { stdout } = await promisify(execFile)('pgbench', [
      ...settings,
      `--time=${Math.ceil(seconds * 2)}`,
      ...files.flatMap((file) => ['--file', file]),
      url,
    ]);
    const [, perSecond] = stdout.match(/^tps = ([\d.]+)/m) ?? [];
    return Number(perSecond);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Executed {
  text: string;
  values: unknown[];
}

/** Statements that run beside requests, not for one. */
const besideRequests = /"UsageRecord"|SKIP LOCKED|^SET /;

/** The statements that node-postgres sends in this process during some work. */
async function statementsOf(work: () => Promise<unknown>): Promise<Executed[]> {
  const executed: Executed[] = [];
  const query = pg.Client.prototype.query as (this: pg.Client, ...parameters: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
    const [asked, values] = parameters as [string | Partial<Executed>, unknown[] | undefined];
    if (typeof asked === 'string')
      executed.push({ text: asked, values: Array.isArray(values) ? values : [] });
    else if (asked.text !== undefined) executed.push({ text: asked.text, values: asked.values ?? [] });
    return query.apply(this, parameters);
  } as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  return executed.filter(({ text }) => !besideRequests.test(text));
}

/** An identifier that the gateway made: those of the seeded world begin in another way. */
const madeId = /(?!01900000-)[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/;
const newIdSql = 'gen_random_uuid()::text';

/**
 * A script for pgbench: the statements with the values of one request. What every request has of its own, made
 * identifiers and the number in a plate, is new in each run of the script.
 */
function scriptOf(statements: readonly Executed[], n: number): string {
  const own = new RegExp(`(${madeId.source}|\\b${n}\\b)`);
  const valueSql = (value: unknown): string => {
    if (value === null || value === undefined) return 'NULL';
    const parts = textOf(value).split(own);
    if (parts.length === 1) return literal(parts[0]!);
    const sql = parts.map((part, index) =>
      index % 2 === 0 ? literal(part) : part === String(n) ? ':n::text' : newIdSql,
    );
    return `(${sql.join(' || ')})`;
  };
  const lines = statements.map(
    ({ text, values }) =>
      `${withoutColons(text).replace(/\$(\d+)/g, (_, place: string) => valueSql(values[Number(place) - 1]))};`,
  );
  return ['\\set n random(1000000000, 2000000000000)', ...lines].join('\n');
}

/** A text of SQL in which pgbench finds no variable: it would look for `:name` inside of texts, too. */
const literal = (text: string) =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll(':', '\\x3A')}'`;

/** A statement whose own texts are written in that way. */
const withoutColons = (statement: string) =>
  statement.replace(/'((?:[^']|'')*)'/g, (_, text: string) => literal(text.replaceAll("''", "'")));

/** A value as node-postgres writes it. */
function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(elementOf).join(',')}}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const elementOf = (value: unknown): string =>
  value === null || value === undefined
    ? 'NULL'
    : `"${textOf(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
