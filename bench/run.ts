import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { loadConfig } from '../src/config.ts';
import { openDatabase } from '../src/database/open.ts';
import { openGateway } from '../src/gateway.ts';
import { buildWithGateway } from './build.ts';
import { comparedCases, type Side } from './cases.ts';
import { compare } from './compare.ts';
import type { Bench } from './measure.ts';
import { type ServerOptions, startLoad, startServer } from './processes.ts';
import { hottest } from './profile.ts';
import { verdictOf } from './pairs.ts';
import { readRecorded, worseThanRecorded, writeRecorded } from './recorded.ts';
import { caseLines, type CaseResult, machine, writeReport } from './report.ts';
import { seedWorld, tidy } from './seed.ts';
import { specialCases } from './special-cases.ts';

const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    cases: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '9' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
});
const { embedded, scale, profile } = options;
const cases = [
  ...comparedCases.map((compared) => ({
    name: compared.name,
    needsPeers: false,
    needsScale: false,
    run: (bench: Bench) => compare(bench, compared),
  })),
  ...specialCases,
];
const wanted = options.cases?.split(',') ?? (profile ? [] : cases.map(({ name }) => name));
const unknown = wanted.filter((name) => !cases.some((known) => known.name === name));
if (unknown.length > 0 || wanted.length === 0) {
  console.error(`--cases is some of ${cases.map(({ name }) => name).join(',')}`);
  process.exit(1);
}

const { DATABASE_URL, REDIS_URL } = process.env;
if (!embedded && (!DATABASE_URL || !REDIS_URL)) {
  console.error('Set DATABASE_URL and REDIS_URL, or measure the default with --embedded');
  process.exit(1);
}
// Where scratch databases are made follows from this variable.
if (embedded) delete process.env.DATABASE_URL;
const { createScratchDatabase, migrationsFolder } = await import('../test/support/scratch-database.ts');

const root = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);
const pepper = 'the-pepper-of-the-benchmark-is-not-a-secret';
const poolSize = 10;
const windowSeconds = 2;
const burstWindowSeconds = 1;
const connections = 50;
/** What is not compared in pairs is measured in `--rounds` longer rounds. */
const longRoundSeconds = 2;

/** The gateway, what loads it, and its peers. */
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

/** Node for what does not run on version 20, and PostGraphile itself, once. */
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
const scratch = await createScratchDatabase();
const log = pino({ level: 'warn' });
const openScratch = () =>
  openDatabase({ databaseUrl: scratch.databaseUrl, dataDir: scratch.dataDir, poolSize: 2, log });
const database = await openScratch();
const profiles = profile ? join(root, `bench/results/profile-${Date.now()}`) : undefined;

try {
  const million = scale && wanted.some((name) => name.startsWith('flat'));
  console.log(`Seeding${million ? ', with one location of 1,000,000' : ''} …`);
  const world = await seedWorld(database, { pepper, million });
  const [version] = await database.sql.query<{ server_version: string }>(
    { name: '', text: 'SHOW server_version' },
    [],
  );
  // One process at a time has an embedded database.
  if (embedded) await database.close();

  const env: NodeJS.ProcessEnv = {
    ...(embedded ? { DATA_DIR: scratch.dataDir } : { DATABASE_URL: scratch.databaseUrl, REDIS_URL }),
    DATABASE_POOL_SIZE: String(poolSize),
    KEY_PEPPER: pepper,
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
  const bench: Bench = {
    world,
    database,
    postgres: scratch.databaseUrl === undefined ? undefined : { url: scratch.databaseUrl, poolSize },
    openHere: () => openGateway(loadConfig(env), pino({ level: 'silent' }), migrationsFolder),
    startRaw: async (answer) => {
      await writeFile(answerFile, JSON.stringify(answer));
      return startServer({ script: 'bench-raw-answer', env: { ANSWER_FILE: answerFile } });
    },
    start: async (side, nodeOptions = []) => {
      const server = await serverOptions(side);
      return startServer({ ...server, nodeOptions: [...(server.nodeOptions ?? []), ...nodeOptions] });
    },
    startLoad,
    pairs: profile ? 1 : Number(options.pairs),
    pairSeconds: profile ? 5 : Number(options.seconds),
    rounds: profile ? 1 : Number(options.rounds),
    seconds: longRoundSeconds,
    warmUpSeconds: 1.5,
    connections,
    peers: !embedded && !profile,
  };
  const redisVersion = embedded ? undefined : await versionOfRedis(REDIS_URL!);
  const settings = {
    machine: machine(),
    node: process.versions.node,
    database: embedded
      ? `embedded PostgreSQL ${version!.server_version}, no Redis`
      : `PostgreSQL ${version!.server_version}, Redis ${redisVersion}`,
    connections,
    pairs: bench.pairs,
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

  const recorded = await readRecorded();
  const worse: string[] = [];
  const results: CaseResult[] = [];
  for (const { name, run: measure, needsPeers, needsScale } of cases) {
    if (!wanted.includes(name) || (needsPeers && embedded) || (needsScale && !scale)) continue;
    const result: CaseResult = await measure(bench).catch((error: Error) => ({
      name,
      title: name,
      sides: [],
      goals: [],
      notes: [`NOT MEASURED: ${error.message}`],
    }));
    results.push(result);
    console.log(`\n${caseLines(result)}`);
    worse.push(...worseThanRecorded(result, recorded));
    if (!embedded) await tidy(database);
  }
  if (profiles) console.log(`${await hottest(profiles)}\nFor a flame graph: ${profiles}`);
  else {
    const report = { at: new Date().toISOString(), settings, cases: results };
    const file = await writeReport(report, { chart: !embedded && options.cases === undefined });
    const verdicts = results.flatMap(({ goals }) => goals.map(verdictOf));
    const count = (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length;
    console.log(
      `\n${count('met')} of ${verdicts.length} goals met, ${count('missed')} missed, ${count('undecided')} undecided; ${file}`,
    );
    if (worse.length > 0) console.log(`Worse than recorded on ${recorded.machine}:\n  ${worse.join('\n  ')}`);
    if (options.record) await writeRecorded(report);
  }
} finally {
  if (!embedded) await database.close();
  await scratch.drop();
}

async function versionOfRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    return (await redis.info('server')).match(/redis_version:(\S+)/)?.[1] ?? 'unknown';
  } finally {
    redis.disconnect();
  }
}
