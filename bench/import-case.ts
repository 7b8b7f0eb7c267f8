import type { Statement } from '../src/database/types.ts';
import { newId } from '../src/ids.ts';
import type { Bench } from './measure.ts';
import { inRandomOrder, median, ratioOfPairs } from './pairs.ts';
import { type Server, watchMemory } from './processes.ts';
import type { CaseResult } from './report.ts';
import { removeCreated } from './seed.ts';
import { bulkLocations, createdReference, locationId } from './world.ts';

const importedRows = 10_000;

const rowsToImport = Array.from({ length: importedRows }, (_, position) => ({
  referenceId: createdReference,
  plateType: 'RAK',
  plateCode: 'Y',
  plateNumber: String(position + 1),
  vehicleType: 'suv',
  note: 'imported',
}));

const importMutation = `mutation Import($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
  importWhitelistEntries(locationId: $locationId, entries: $entries) { created }
}`;

/** What an import cannot be faster than: its rows in one statement, with nothing around it. */
const bareInsert: Statement = {
  name: 'bench-insert',
  text: `
    INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber",
      "vehicleType", note)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::text[])
    ON CONFLICT DO NOTHING`,
};

async function post(server: Server, secret: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(server.origin + path, {
    method: 'POST',
    headers: { 'X-API-Key': secret, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || !text.includes(`"created":${importedRows}`)) {
    throw new Error(`${path} answers ${response.status}: ${text.slice(0, 200)}`);
  }
  return text;
}

/** Measures an import, in turns with the statement alone and with the hand-written route. */
export async function importing(bench: Bench): Promise<CaseResult> {
  const { bulkSecret } = bench.world;
  const target = locationId(bulkLocations.import);
  const servers: Server[] = [];
  try {
    const gateway = await bench.start('gateway');
    servers.push(gateway);
    const peer = await bench.start('hand-written');
    servers.push(peer);
    const ways: { label: string; pid: number | undefined; run: () => Promise<unknown> }[] = [
      {
        label: 'gateway',
        pid: gateway.pid,
        run: () =>
          post(gateway, bulkSecret, '/graphql', {
            query: importMutation,
            variables: { locationId: target, entries: rowsToImport },
          }),
      },
      {
        label: 'statement alone',
        pid: undefined,
        run: () =>
          bench.database.sql.query(bareInsert, [
            rowsToImport.map(() => newId()),
            rowsToImport.map(() => target),
            ...(['referenceId', 'plateType', 'plateCode', 'plateNumber', 'vehicleType', 'note'] as const).map(
              (field) => rowsToImport.map((row) => row[field]),
            ),
          ]),
      },
      {
        label: 'hand-written route',
        pid: peer.pid,
        run: () => post(peer, bulkSecret, `/api/locations/${target}/whitelist/import`, rowsToImport),
      },
    ];
    const times = ways.map((): number[] => []);
    const peaks = ways.map(() => 0);
    for (let round = -1; round < bench.pairs; round++) {
      for (const [index, { pid, run }] of inRandomOrder([...ways.entries()])) {
        const memory = pid === undefined ? undefined : watchMemory(pid);
        const before = performance.now();
        await run();
        if (round >= 0) times[index]!.push(performance.now() - before);
        peaks[index] = Math.max(peaks[index]!, memory?.stop() ?? 0);
        await removeCreated(bench.database);
      }
    }
    const [ours, statement, route] = times;
    const ratio = ratioOfPairs(statement!, ours!);
    return {
      name: 'import',
      title: 'Import of 10,000 rows',
      sides: [],
      ratio,
      goals: [{ text: 'rows/s to the statement alone', ...ratio, least: 0.7 }],
      notes: ways
        .map(
          ({ label }, index) =>
            `${label}: ${median(times[index]!).toFixed(0)} ms${peaks[index] ? `, ${peaks[index]!.toFixed(0)} MiB` : ''}`,
        )
        .concat(`rows/s to the hand-written route: ${ratioOfPairs(route!, ours!).value.toFixed(2)}`),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
