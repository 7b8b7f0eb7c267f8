import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ImportedRow, importTarget, type Mode, writeBare } from './bare-import.ts';
import type { Bench } from './measure.ts';
import { type Figure, inRandomOrder, measureUntilDecided, median, ratioOfPairs } from './pairs.ts';
import { type Server, watchMemory } from './processes.ts';
import type { CaseResult } from './report.ts';
import { createdReference } from './world.ts';

// This file measures imports. The benchmark compares the speed of each import through the gateway with the speed of
// plain SQL statements that write the same rows. For some imports, the benchmark also measures the same import through
// a hand-written server (a peer), and compares the results.

const plateType = 'RAK';
const plateCode = 'Y';

/** Creates rows for an import, with plates that have consecutive numbers. */
const rows = (first: number, count: number, values: { vehicleType: string; note?: string }): ImportedRow[] =>
  Array.from({ length: count }, (_, index) => ({
    referenceId: createdReference,
    plateType,
    plateCode,
    plateNumber: String(first + index),
    ...values,
  }));

/** An import that the benchmark measures, and the rows that the whitelist must contain before this import. */
interface Import {
  name: string;
  title: string;
  mode: Mode;
  before: readonly ImportedRow[];
  imported: readonly ImportedRow[];
  /** The expected response of the gateway: how many whitelist entries the import has created, updated and deleted. */
  answer: { created: number; updated: number; deleted: number };
  /**
   * True if the command `pms import` sends the rows from a CSV file; otherwise, the benchmark itself sends the import
   * request.
   */
  isFile?: boolean;
}

const before = rows(1, 10_000, { vehicleType: 'sedan' });
/**
 * Before each measured CREATE import, the whitelist contains only the entry in `otherEntry`. No import that the
 * benchmark measures contains the plate of `otherEntry`. The whitelist must contain at least one whitelist entry before
 * an import. In an embedded database, the benchmark restores the whitelist with a REPLACE import, which needs at least
 * one row.
 */
const otherEntry = rows(1_000_000, 1, { vehicleType: 'sedan' });

const imports: readonly Import[] = [
  {
    name: 'import',
    title: 'Import of 10,000 rows with notes',
    mode: 'CREATE',
    before: otherEntry,
    imported: rows(1, 10_000, { vehicleType: 'suv', note: 'imported' }),
    answer: { created: 10_000, updated: 0, deleted: 0 },
  },
  {
    name: 'import-without-notes',
    title: 'Import of 10,000 rows without notes',
    mode: 'CREATE',
    before: otherEntry,
    imported: rows(1, 10_000, { vehicleType: 'suv' }),
    answer: { created: 10_000, updated: 0, deleted: 0 },
  },
  {
    name: 'import-upsert',
    title: 'UPSERT that changes 10,000 rows',
    mode: 'UPSERT',
    before,
    imported: rows(1, 10_000, { vehicleType: 'suv' }),
    answer: { created: 0, updated: 10_000, deleted: 0 },
  },
  {
    name: 'import-replace',
    title: 'REPLACE of 10,000 rows: 5,000 new, 5,000 changed, 5,000 removed',
    mode: 'REPLACE',
    before,
    imported: rows(5_001, 10_000, { vehicleType: 'suv' }),
    answer: { created: 5_000, updated: 5_000, deleted: 5_000 },
  },
  {
    name: 'import-file',
    title: 'CSV file of 100,000 rows with notes, by pms import',
    mode: 'CREATE',
    before: otherEntry,
    imported: rows(1, 100_000, { vehicleType: 'suv', note: 'imported' }),
    answer: { created: 100_000, updated: 0, deleted: 0 },
    isFile: true,
  },
];

const importMutation = `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode) {
  importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode) { created updated deleted }
}`;

async function post(server: Server, secret: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(server.origin + path, {
    method: 'POST',
    // Each import request uses a new connection to the gateway. An SQL statement on an embedded database can block the
    // benchmark process for so long that the gateway closes idle connections. An import request on a closed connection
    // would fail.
    headers: { 'X-API-Key': secret, 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${answer.slice(0, 200)}`);
  return JSON.parse(answer);
}

/** Imports rows by sending one request to the gateway. */
async function importByRequest(
  server: Server,
  secret: string,
  { mode, imported, answer }: Pick<Import, 'mode' | 'imported'> & Partial<Import>,
): Promise<void> {
  const { data } = (await post(server, secret, '/graphql', {
    query: importMutation,
    variables: { locationId: importTarget, entries: imported, mode },
  })) as { data?: { importWhitelistEntries: Import['answer'] } };
  const counts = JSON.stringify(data?.importWhitelistEntries);
  if (answer && counts !== JSON.stringify(answer)) throw new Error(`the import answers ${counts}`);
}

const pms = fileURLToPath(new URL('../dist/pms.js', import.meta.url));

/** Imports a file with `pms import` in a terminal, where the command shows its progress. */
async function importByFile(server: Server, secret: string, file: string, { answer }: Import): Promise<void> {
  const command = `'${process.execPath}' '${pms}' import '${file}' --location ${importTarget}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', PMS_URL: server.origin, PMS_API_KEY: secret },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const shown = await text(child.stdout);
  const [code] = (await ended) as [number | null];
  if (code !== 0 || !new RegExp(`created\\D+${answer.created}\\b`).test(shown))
    throw new Error(`pms import exited with code ${code}: ${shown.slice(-300)}`);
}

const csvOf = (imported: readonly ImportedRow[]) =>
  [
    'referenceId,plateType,plateCode,plateNumber,vehicleType,note',
    ...imported.map((row) =>
      [row.referenceId, row.plateType, row.plateCode, row.plateNumber, row.vehicleType, row.note].join(','),
    ),
  ].join('\n');

/**
 * A method of writing the rows of an import: through the gateway, through another server, or with plain SQL statements.
 * The benchmark compares these methods.
 */
interface Way {
  label: string;
  pid?: number;
  /** Restores the whitelist entries that must exist before the measured import. */
  prepare(): Promise<void>;
  run(): Promise<unknown>;
}

async function measureImport(bench: Bench, measured: Import): Promise<CaseResult> {
  const { bulkSecret } = bench.world;
  const servers: Server[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'parking-bench-'));
  const file = join(folder, 'import.csv');
  const beside = await bench.openBeside();
  const { sql } = beside.database.heavy;
  try {
    if (measured.isFile) await writeFile(file, csvOf(measured.imported));
    const gateway = await bench.start('gateway');
    servers.push(gateway);
    const prepareBare = async () => {
      await sql.query({ name: 'bench-empty', text: 'DELETE FROM "WhitelistEntry" WHERE "locationId" = $1' }, [
        importTarget,
      ]);
      await writeBare(sql, 'CREATE', measured.before);
    };
    const ways: Way[] = [
      {
        label: 'gateway',
        pid: gateway.pid,
        // With an embedded database, the gateway itself restores the whitelist, because no other process can open the
        // database.
        prepare: beside.isSame
          ? prepareBare
          : () => importByRequest(gateway, bulkSecret, { mode: 'REPLACE', imported: measured.before }),
        run: () =>
          measured.isFile
            ? importByFile(gateway, bulkSecret, file, measured)
            : importByRequest(gateway, bulkSecret, measured),
      },
      {
        label: 'plain SQL',
        prepare: prepareBare,
        run: () => writeBare(sql, measured.mode, measured.imported),
      },
    ];
    if (bench.peers && measured.mode === 'CREATE' && !measured.isFile) {
      const peer = await bench.start('hand-written');
      servers.push(peer);
      ways.push({
        label: 'hand-written',
        pid: peer.pid,
        prepare: prepareBare,
        run: () =>
          post(peer, bulkSecret, `/api/locations/${importTarget}/whitelist/import`, measured.imported),
      });
    }

    const times = ways.map((): number[] => []);
    const peaks = ways.map(() => 0);
    async function measurePair(): Promise<void> {
      for (const [index, { pid, prepare, run }] of inRandomOrder([...ways.entries()])) {
        await prepare();
        const memory = pid === undefined ? undefined : watchMemory(pid);
        const startedAt = performance.now();
        await run();
        times[index]!.push(performance.now() - startedAt);
        peaks[index] = Math.max(peaks[index]!, memory?.stop() ?? 0);
      }
    }
    const goals = bench.peers && measured.mode === 'CREATE' && !measured.isFile ? [0.7, 0.8] : [];
    const figures = (): Figure[] =>
      ways.slice(1).map(({ label }, index) => ({
        text: `rows/s, gateway ÷ ${label}`,
        ...ratioOfPairs(times[index + 1]!, times[0]!),
        ...(goals[index] !== undefined && { least: goals[index] }),
      }));
    await measurePair();
    for (const list of times) list.length = 0;
    await measureUntilDecided(bench.pairs, measurePair, figures);
    return {
      name: measured.name,
      title: measured.title,
      sides: [],
      figures: figures(),
      notes: ways.map(({ label }, index) => {
        const peak = peaks[index] ? `, ${peaks[index].toFixed(0)} MiB` : '';
        return `${label}: ${median(times[index]!).toFixed(0)} ms${peak}`;
      }),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await beside.close();
    await rm(folder, { recursive: true });
  }
}

/** The benchmark cases that measure imports. */
export const importCases = imports.map((measured) => ({
  name: measured.name,
  needsServer: false,
  needsScale: false,
  run: (bench: Bench) => measureImport(bench, measured),
}));
