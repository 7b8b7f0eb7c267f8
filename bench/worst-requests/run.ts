import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openDatabase } from '../../src/database/open.ts';
import { buildWithGateway } from '../build.ts';
import { startServer } from '../processes.ts';
import { machine } from '../report.ts';
import { attacks } from './attacks.ts';
import { measureAttack } from './measure.ts';
import { seedWorst } from './seed.ts';
import { rowOf, tableOf } from './table.ts';

// `npm run bench:worst`: what the worst requests of one key do to the gate decisions of others.

const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    /** Parts of the names of attacks, separated by commas. */
    only: { type: 'string' },
    seconds: { type: 'string', default: '8' },
  },
});
const wanted = options.only?.split(',');
const chosen = attacks.filter(({ name }) => !wanted || wanted.some((part) => name.includes(part)));
const { DATABASE_URL, REDIS_URL } = process.env;
if (!options.embedded && (!DATABASE_URL || !REDIS_URL)) {
  console.error('Set DATABASE_URL and REDIS_URL, or measure the default with --embedded');
  process.exit(1);
}
// Where scratch databases are made follows from this variable.
if (options.embedded) delete process.env.DATABASE_URL;
const { createScratchDatabase } = await import('../../test/support/scratch-database.ts');

const root = fileURLToPath(new URL('../../', import.meta.url));
const pepper = 'the-pepper-of-the-benchmark-is-not-a-secret';

await buildWithGateway(root, {
  'bench-gates': 'bench/worst-requests/gates.ts',
  'bench-spend': 'bench/worst-requests/spend.ts',
});

const scratch = await createScratchDatabase();
const { databaseUrl, dataDir } = scratch;
const database = await openDatabase({ databaseUrl, dataDir, poolSize: 2, log: pino({ level: 'warn' }) });
try {
  console.log('Seeding …');
  const worlds = await seedWorst(database, pepper, chosen.length);
  await database.close();
  const env: NodeJS.ProcessEnv = {
    ...(options.embedded ? { DATA_DIR: dataDir } : { DATABASE_URL: databaseUrl, REDIS_URL }),
    KEY_PEPPER: pepper,
  };
  console.log(
    `${machine()}, Node ${process.versions.node}, ${options.embedded ? 'embedded' : 'PostgreSQL and Redis'}`,
  );
  const results = [];
  for (const [index, { name }] of chosen.entries()) {
    // Each starts with the memory of a fresh process, and has a key with a full budget.
    const server = await startServer({ script: 'server', env });
    try {
      const result = await measureAttack(server, {
        attack: name,
        world: worlds[index]!,
        maxSeconds: Number(options.seconds),
      });
      results.push(result);
      console.log(
        `${rowOf(result)} ${JSON.stringify(result.statuses)} ${result.sample.replaceAll('\n', ' ')}`,
      );
    } finally {
      // Not asked to stop: it would wait for what it still answers.
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    }
  }
  console.log(`\n${tableOf(results)}`);
} finally {
  await scratch.drop();
}
