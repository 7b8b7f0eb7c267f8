import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { buildWithGateway } from '../build.ts';
import { startServer } from '../processes.ts';
import { record, recordedFiles } from '../recorded.ts';
import { createTarget, describeRun } from '../target.ts';
import { attacks } from './attacks.ts';
import { measureAttack } from './measure.ts';
import { seedWorst } from './seed.ts';
import { figuresOf, worstTable } from './table.ts';

// `npm run bench:worst` measures how the most expensive requests of one API key delay the gate decisions of other
// companies.

const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    /**
     * The value of the option `--only`: a list of words, separated by commas. With the option `--only`, the benchmark
     * measures only those kinds of requests whose names contain one of these words.
     */
    only: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    record: { type: 'boolean', default: false },
  },
});
const wanted = options.only?.split(',');
const chosen = attacks.filter(({ name }) => !wanted || wanted.some((part) => name.includes(part)));
const target = await createTarget(options);
await buildWithGateway(fileURLToPath(new URL('../../', import.meta.url)), {
  'bench-gates': 'bench/worst-requests/gates.ts',
  'bench-spend': 'bench/worst-requests/spend.ts',
});

const database = await target.open();
try {
  console.log('Seeding …');
  const worlds = await seedWorst(database, target.pepper, chosen.length);
  const measured = await describeRun(target, database);
  await database.close();
  console.log(`${measured.machine}, ${measured.database}`);
  const results = [];
  for (const [index, { name }] of chosen.entries()) {
    // For each kind of expensive request, the benchmark uses a new gateway process, and an API key that still has all
    // its rate limit points.
    const server = await startServer({ script: 'server', env: target.env });
    try {
      const result = await measureAttack(server, {
        attack: name,
        world: worlds[index]!,
        maxSeconds: Number(options.seconds),
      });
      results.push(result);
      const { largestOfOne, busySeconds, statuses, sample } = result;
      console.log(
        `${name}: one delays by ${largestOfOne.toFixed(0)} ms; all in ${busySeconds.toFixed(1)} s, ${JSON.stringify(statuses)} ${sample.replaceAll('\n', ' ')}`,
      );
    } finally {
      // The benchmark kills the gateway process, because a normal shutdown would wait for responses that the client has
      // not read yet.
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    }
  }
  const figures = figuresOf(results);
  console.log(`\n${worstTable(figures)}`);
  if (options.record) {
    const known = attacks.map(({ name }) => name);
    await record(recordedFiles.worst, { kind: target.kind, measured, known }, figures);
  }
} finally {
  await target.drop();
}
