import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { loadConfig } from '../src/config.ts';
import { openGateway } from '../src/gateway.ts';
import { buildWithGateway } from './build.ts';
import { comparedCases } from './cases.ts';
import type { Side } from './traffic.ts';
import { compare } from './compare.ts';
import type { Bench } from './measure.ts';
import { type ServerOptions, startLoad, startServer } from './processes.ts';
import { hottest } from './profile.ts';
import { maxPairs, verdictOf } from './pairs.ts';
import {
  readRecorded,
  record,
  recordedCase,
  type RecordedCase,
  recordedFiles,
  worseThanRecorded,
} from './recorded.ts';
import { caseLines, type CaseResult, writeReport } from './report.ts';
import { seedLocations, seedWorld, tidy } from './seed.ts';
import { specialCases } from './special-cases.ts';
import { createTarget, describeRun } from './target.ts';

const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    cases: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '9' },
    record: { type: 'boolean', default: false },
  },
});
const { embedded, scale, profile } = options;
const cases = [
  ...comparedCases.map((compared) => ({
    name: compared.name,
    needsServer: false,
    needsScale: false,
    run: (bench: Bench) => compare(bench, compared),
  })),
  ...specialCases,
];
const wanted = options.cases?.split(',') ?? (profile ? [] : cases.map(({ name }) => name));
const unknown = wanted.filter((name) => !cases.some((known) => known.name === name));
if (unknown.length > 0 || wanted.length === 0) {
  console.error(`--cases must be a list of: ${cases.map(({ name }) => name).join(',')}`);
  process.exit(1);
}

const root = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);
const poolSize = 10;
const windowSeconds = 2;
const burstWindowSeconds = 1;
const connections = 50;

/** Builds the gateway, the process that sends requests, and the servers with which the gateway is compared (peers). */
const buildAll = () =>
  buildWithGateway(
    root,
    Object.fromEntries([
      ['bench-load', 'bench/load.ts'],
      ...['hand-written', 'postgraphile', 'sofa', 'node-http', 'raw-answer'].map((peer) => [
        `bench-${peer}`,
        `bench/peers/${peer}.ts`,
      ]),
    ]) as Record<string, string>,
  );

const postgraphileFolder = join(root, 'node_modules/.cache/parking-gateway/postgraphile');

/**
 * Installs PostGraphile and the newer version of Node that PostGraphile needs. If PostGraphile and this version of Node
 * are already installed, the function installs nothing. Returns the path of the Node executable that runs PostGraphile.
 */
async function installPostGraphile(): Promise<string> {
  const { stdout } = await run('npx', ['-y', '-p', 'node@24', 'node', '-p', 'process.execPath']);
  if (!existsSync(join(postgraphileFolder, 'node_modules/postgraphile'))) {
    await mkdir(postgraphileFolder, { recursive: true });
    await writeFile(join(postgraphileFolder, 'package.json'), '{ "private": true }\n');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', 'postgraphile@5.1.5'], {
      cwd: postgraphileFolder,
    });
  }
  return stdout.trim();
}

await buildAll();
const target = await createTarget({ embedded });
const database = await target.open();
const profiles = profile ? join(root, `bench/results/profile-${Date.now()}`) : undefined;

try {
  const million = scale && wanted.some((name) => name.startsWith('flat'));
  console.log(`Seeding${million ? ', with one location of 1,000,000' : ''} …`);
  const world = await seedWorld(database, { pepper: target.pepper, million });
  const measured = await describeRun(target, database);
  // Only one process at a time can open the embedded database. The benchmark process must therefore close the database
  // before the gateway opens it.
  if (embedded) await database.close();

  const env: NodeJS.ProcessEnv = {
    ...target.env,
    DATABASE_POOL_SIZE: String(poolSize),
    LOG_LEVEL: 'info',
    RATE_LIMIT_WINDOW_SECONDS: String(windowSeconds),
    RATE_LIMIT_BURST_WINDOW_SECONDS: String(burstWindowSeconds),
    TRUST_PROXY: 'true',
  };

  async function serverOptions(side: Side): Promise<ServerOptions> {
    switch (side) {
      case 'gateway':
        return {
          script: 'server',
          env,
          nodeOptions: profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [],
        };
      case 'postgraphile':
        return {
          script: 'bench-postgraphile',
          env: { ...env, POSTGRAPHILE_FOLDER: postgraphileFolder },
          node: await installPostGraphile(),
        };
      case 'node-http-401':
      case 'node-http-429':
        return { script: 'bench-node-http', env: { ANSWER: side.slice(-3) } };
      default:
        return { script: `bench-${side}`, env };
    }
  }

  const answerFile = join(await mkdtemp(join(tmpdir(), 'parking-bench-')), 'answer.json');
  const pairSeconds = profile ? 5 : Number(options.seconds);
  const bench: Bench = {
    world,
    database,
    postgres: target.databaseUrl === undefined ? undefined : { url: target.databaseUrl, poolSize },
    openHere: () => openGateway(loadConfig(env), pino({ level: 'silent' })),
    startRaw: async (answer) => {
      await writeFile(answerFile, JSON.stringify(answer));
      return startServer({ script: 'bench-raw-answer', env: { ANSWER_FILE: answerFile } });
    },
    start: async (side, nodeOptions = []) => {
      const server = await serverOptions(side);
      return startServer({ ...server, nodeOptions: [...(server.nodeOptions ?? []), ...nodeOptions] });
    },
    startLoad,
    openBeside: async () => {
      if (!embedded) return { database, isSame: true, close: () => Promise.resolve() };
      const other = await target.openEmbedded();
      await seedLocations(other);
      return { database: other, isSame: false, close: () => other.close() };
    },
    pairs: profile ? { least: 1, most: 1 } : { least: Number(options.pairs), most: maxPairs },
    pairSeconds,
    longRoundSeconds: pairSeconds * 2,
    warmUpSeconds: 1.5,
    connections,
    peers: !embedded && !profile,
  };
  const settings = {
    machine: measured.machine,
    database: measured.database,
    connections,
    pairs: `${bench.pairs.least}, and up to ${bench.pairs.most} until every goal is decided`,
    secondsOfARound: bench.pairSeconds,
    warmUpSeconds: bench.warmUpSeconds,
    databasePoolSize: poolSize,
    limits: `10,000,000 a window of ${windowSeconds} s and a burst of ${burstWindowSeconds} s on both sides, 10 keys in turn`,
    logLevel: 'info, to /dev/null',
    strangers: '401: 1,000 addresses by X-Forwarded-For, TRUST_PROXY=true',
  };
  console.log(
    Object.entries(settings)
      .map(([name, value]) => `  ${name}: ${value}`)
      .join('\n'),
  );

  const recorded = (await readRecorded<RecordedCase>(recordedFiles.cases))[target.kind];
  const notMeasured: string[] = [];
  const worse: string[] = [];
  const results: CaseResult[] = [];
  for (const { name, run: measure, needsServer, needsScale } of cases) {
    if (!wanted.includes(name) || (needsServer && embedded) || (needsScale && !scale)) continue;
    const result: CaseResult = await measure(bench).catch((error: Error) => {
      notMeasured.push(name);
      return { name, title: name, sides: [], figures: [], notes: [`NOT MEASURED: ${error.message}`] };
    });
    results.push(result);
    console.log(`\n${caseLines(result)}`);
    worse.push(...worseThanRecorded(result, recorded[name]));
    if (!embedded) await tidy(database);
  }
  if (profiles) console.log(`${await hottest(profiles)}\nFor a flame graph: ${profiles}`);
  else {
    const file = await writeReport({ at: new Date().toISOString(), settings, cases: results });
    const verdicts = results.flatMap(({ figures }) => figures.flatMap((figure) => verdictOf(figure) ?? []));
    const count = (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length;
    console.log(
      `\n${count('met')} of ${verdicts.length} goals met, ${count('missed')} missed, ${count('undecided')} undecided; ${file}`,
    );
    if (worse.length > 0) console.log(`Worse than recorded in bench/recorded.json:\n  ${worse.join('\n  ')}`);
    if (notMeasured.length > 0) console.log(`Not measured: ${notMeasured.join(', ')}`);
    if (worse.length + notMeasured.length > 0) process.exitCode = 1;
    if (options.record) {
      await record(
        recordedFiles.cases,
        { kind: target.kind, measured, known: cases.map(({ name }) => name) },
        Object.fromEntries(
          results.flatMap((result) => {
            const entry = recordedCase(result);
            return entry ? [[result.name, entry]] : [];
          }),
        ),
      );
    }
  }
} finally {
  if (!embedded) await database.close();
  await target.drop();
}
