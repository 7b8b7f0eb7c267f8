import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ComparedCase } from './cases.ts';
import { trafficOf } from './traffic.ts';
import { type Bench, freshNumbers } from './measure.ts';
import type { Spread } from './pairs.ts';
import type { Server } from './processes.ts';

// For each benchmark case, this file measures how many requests per second a plain Node HTTP server and the program
// pgbench can handle. The plain Node server and pgbench show roughly the highest speed that this machine can reach. The
// plain Node HTTP server always sends the same response. The program pgbench sends the SQL statements of the benchmark
// case directly to PostgreSQL, without the gateway.

/**
 * The speed of a simpler program that does not use the gateway, in requests per second (`perSecond`). This program (a
 * plain Node server or pgbench) shows roughly the highest speed that this machine can reach in the benchmark case. The
 * field `reached` is the gateway's number of requests per second, divided by the speed of the simpler program
 * (`perSecond`).
 */
export interface Limit {
  label: string;
  perSecond: number;
  reached: Partial<Spread> & { value: number };
}

/**
 * A recorded response of the gateway. For every request, a plain Node server sends a copy of this recorded response.
 */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * The response headers that Node itself sets in every response, such as `Date`. When the plain Node server sends a copy
 * of a gateway response, it therefore omits the headers that Node sets itself.
 */
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
  // In a benchmark case that expects the status 429, the first request can still be within the rate limit of the API
  // key. If the first request is within the rate limit, the benchmark sends the request a second time, and the second
  // request exceeds the rate limit.
  if (!statuses.includes(response.status)) response = await ask();
  const headers = [...response.headers].filter(([name]) => !ofTheConnection.has(name));
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** Starts a plain Node server, which answers every request with a copy of one response of the gateway. */
export async function startCeiling(bench: Bench, compared: ComparedCase, gateway: Server): Promise<Server> {
  return bench.startRaw(await answerOf(compared, gateway, bench));
}

/** The number of requests whose SQL statements the benchmark records, to run these statements with pgbench. */
const sampledRequests = 20;

/**
 * Runs the SQL statements of the gateway with pgbench, and returns how many requests per second pgbench can handle.
 * Returns `undefined` when pgbench is not installed, when the requests cause no SQL statements, or when the database is
 * embedded.
 */
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
    // The first requests look up the API keys in the database, and later requests read the API keys from a cache. The
    // benchmark therefore does not record the SQL statements of the first requests.
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

/** Matches SQL statements that come from background tasks of the gateway, and not from a request. */
const besideRequests = /"UsageRecord"|SKIP LOCKED|^SET /;

/** Records the SQL statements that node-postgres sends in this process while the function `work` runs. */
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

/**
 * Matches identifiers that the gateway has generated. The regular expression does not match the identifiers of the
 * benchmark's seed data, which begin with 01900000.
 */
const madeId = /(?!01900000-)[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/;
const newIdSql = 'gen_random_uuid()::text';

/**
 * Returns a script for pgbench with the SQL statements of one request and the values of their parameters. In each run
 * of the script, pgbench uses new plate numbers and new values for generated identifiers.
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

/**
 * Returns a text as an SQL string literal in which each colon is escaped. If the colons were not escaped, pgbench would
 * replace variables such as `:name` even inside an SQL string.
 */
const literal = (text: string) =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll(':', '\\x3A')}'`;

/** Escapes each colon in the string literals of an SQL statement, for pgbench. */
const withoutColons = (statement: string) =>
  statement.replace(/'((?:[^']|'')*)'/g, (_, text: string) => literal(text.replaceAll("''", "'")));

/** Converts a parameter value to the text that the library node-postgres would send. */
function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(elementOf).join(',')}}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const elementOf = (value: unknown): string =>
  value === null || value === undefined
    ? 'NULL'
    : `"${textOf(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
