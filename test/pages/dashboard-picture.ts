// `npm run pictures:dashboard` draws docs/observability/dashboard.png, a picture of the Grafana dashboard with all its
// panels. The script starts a gateway, sends requests for two minutes, and reads the metrics with Prometheus. The
// library uPlot draws the panels, because Grafana is not available as an npm package. The script needs the programs
// `prometheus` and Chromium.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from '../support/browser.ts';
import { startDemoProcess } from '../support/demo-process.ts';
import { eventually, freePort } from '../support/system-servers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const picture = join(root, 'docs/observability/dashboard.png');
const trafficMs = 120_000;
const scrapeSeconds = 2;

/** A panel of the dashboard, in the format of the JSON file that Grafana reads. */
interface Panel {
  type: 'row' | 'timeseries' | 'stat';
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat?: string }[];
  fieldConfig?: { defaults: { unit: string } };
}

/** A line in the chart of a panel, with its name in the legend and its value at each time. */
interface Line {
  name: string;
  values: (number | null)[];
}

const { panels } = JSON.parse(
  readFileSync(join(root, 'docs/observability/grafana-dashboard.json'), 'utf8'),
) as { panels: Panel[] };

const folder = await mkdtemp(join(tmpdir(), 'dashboard-'));
const [metricsPort, prometheusPort] = [await freePort(), await freePort()];
const gateway = await startDemoProcess({ METRICS_PORT: String(metricsPort), WEBHOOK_ALLOW_PRIVATE: 'true' });
writeFileSync(
  join(folder, 'prometheus.yml'),
  `scrape_configs:
  - job_name: parking-gateway
    scrape_interval: ${scrapeSeconds}s
    static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }]
`,
);
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
  ],
  { stdio: 'ignore' },
);
const prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
await eventually(
  'Prometheus is ready',
  async () => {
    const { ok } = await fetch(`${prometheusUrl}/-/ready`);
    if (!ok) throw new Error('Prometheus is not ready yet');
  },
  30_000,
);

/** Sends a GraphQL operation with an API key, and returns the data of the response. */
async function graph<Data>(query: string, variables: object, key: string): Promise<Data> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
  });
  return ((await response.json()) as { data: Data }).data;
}

const { createApiKey } = await graph<{ createApiKey: { secret: string } }>(
  `mutation { createApiKey(input: {
    name: "Picture", unrestricted: true, hourlyLimit: 1000000, burstLimit: 100000
    permissions: [READ_LOCATIONS, READ_STATUS, READ_WHITELIST, WRITE_WHITELIST, MANAGE_WEBHOOKS]
  }) { secret } }`,
  {},
  gateway.operatorKey,
);
const key = createApiKey.secret;
const { locations } = await graph<{ locations: { nodes: { id: string }[] } }>(
  '{ locations(first: 1) { nodes { id } } }',
  {},
  key,
);
const locationId = locations.nodes[0]!.id;
const plate = { plateType: 'DXB', plateCode: 'P', plateNumber: '4711' };
const mayEnter = `query MayEnter($locationId: ID!, $plate: PlateInput!) {
  plateAccess(locationId: $locationId, plate: $plate) { allowed }
}`;

/** A server that receives the messages of a webhook, and refuses every third message. */
let received = 0;
const receiver = createServer((_, response) => {
  received += 1;
  response.writeHead(received % 3 === 0 ? 503 : 204).end();
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;
await graph(
  'mutation ($url: String!) { createWebhook(input: { url: $url, events: [WHITELIST_CREATED] }) { secret } }',
  { url: `http://127.0.0.1:${port}/` },
  key,
);
const create = `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) { id }
}`;
let created = 0;
const newEntry = () => ({
  referenceId: 'Unit 7',
  plateType: 'DXB',
  plateCode: 'Z',
  plateNumber: String((created += 1)),
});

const subscription =
  'subscription ($locationId: ID!) { locationStatusChanged(locationId: $locationId) { occupied } }';
/** Three GraphQL subscriptions, which stay open until the script has taken the picture of the dashboard. */
const streams = await Promise.all(
  Array.from({ length: 3 }, () =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({ query: subscription, variables: { locationId } }),
    }),
  ),
);

/** Calls a REST endpoint, and ignores the response. */
async function rest(path: string, secret = key): Promise<void> {
  await (await fetch(`${gateway.url}/api${path}`, { headers: { 'X-API-Key': secret } })).arrayBuffer();
}

/**
 * The kinds of requests that the script sends at random. Each item of the list contains a number (`upTo`) and a
 * function that sends a request. For each request, the script chooses a random number between 0 and 1. The script then
 * calls the function of the first item whose `upTo` is greater than or equal to the random number.
 */
const kinds: [upTo: number, request: () => Promise<unknown>][] = [
  [0.6, () => graph(mayEnter, { locationId, plate }, key)],
  [0.64, () => graph(create, { locationId, input: newEntry() }, key)],
  [0.77, () => rest(`/locations/${locationId}/whitelist?limit=10`)],
  [0.88, () => rest(`/locations/${locationId}/status`)],
  [0.91, () => rest(`/locations/${randomUUID()}/status`)],
  [0.94, () => rest('/locations', 'pms_unknown')],
  [1, () => graph('{ locations(first: 10) { nodes { id name } } }', {}, key)],
];

const end = Date.now() + trafficMs;
for (let second = 0; Date.now() < end; second += 1) {
  const rate = 30 + 15 * Math.sin(second / 12);
  await Promise.all(
    Array.from({ length: Math.round(rate) }, async () => {
      await sleep(Math.random() * 900);
      const drawn = Math.random();
      await kinds.find(([upTo]) => drawn <= upTo)![1]();
    }),
  );
}

/** Queries Prometheus with the expressions of a dashboard panel, and returns the lines of the panel's chart. */
async function linesOf({ targets = [] }: Panel): Promise<{ at: number[]; lines: Line[] }> {
  const [first, last] = [(end - trafficMs) / 1000 + 10, end / 1000];
  const at = Array.from(
    { length: Math.floor((last - first) / scrapeSeconds) },
    (_, n) => first + n * scrapeSeconds,
  );
  const lines: Line[] = [];
  for (const { expr, legendFormat = '' } of targets) {
    const query = expr
      .replaceAll('$job', 'parking-gateway')
      .replaceAll('$instance', '.*')
      .replaceAll('$__rate_interval', `${scrapeSeconds * 5}s`);
    const parameters = new URLSearchParams({
      query,
      start: String(at[0]),
      end: String(at.at(-1)),
      step: String(scrapeSeconds),
    });
    const { data, error } = (await (
      await fetch(`${prometheusUrl}/api/v1/query_range?${parameters}`)
    ).json()) as {
      data?: { result: { metric: Record<string, string>; values: [number, string][] }[] };
      error?: string;
    };
    if (!data) throw new Error(`${expr}: ${error}`);
    for (const { metric, values } of data.result) {
      const valueAt = new Map(values.map(([time, value]) => [Math.round(time), Number(value)]));
      lines.push({
        name:
          legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '') || 'value',
        values: at.map((time) => {
          const value = valueAt.get(Math.round(time));
          return value === undefined || Number.isNaN(value) ? null : value;
        }),
      });
    }
  }
  return { at, lines };
}

const drawn = await Promise.all(panels.map(async (panel) => ({ ...panel, ...(await linesOf(panel)) })));
const browser = await openBrowser();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.setContent(`<!doctype html><meta charset="utf-8"><style>
  body { margin: 12px; background: #f4f5f5; font: 13px system-ui, sans-serif; color: #24292e }
  main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 30px; gap: 6px }
  section { background: #fff; border: 1px solid #dfe1e4; border-radius: 3px; padding: 6px 8px; overflow: hidden }
  section.row { background: none; border: 0; padding: 2px }
  h2 { font-size: 13px; margin: 0 0 2px; font-weight: 600 }
  ul { display: flex; flex-wrap: wrap; gap: 0 12px; list-style: none; margin: 0; padding: 0; font-size: 11px; height: 60px; overflow: hidden }
  li::before { content: '— '; color: var(--color); font-weight: 700 }
  section.stat { align-self: stretch }
  .stat p { font-size: 17px; margin: 26px 0 }
</style><main></main>`);
await page.addStyleTag({ path: join(root, 'node_modules/uplot/dist/uPlot.min.css') });
await page.addScriptTag({ path: join(root, 'node_modules/uplot/dist/uPlot.iife.min.js') });
// The program tsx inserts calls of a function `__name` into the script. The script defines `__name` in the browser
// page, because the page does not have this function.
await page.evaluate('globalThis.__name = (value) => value');
await page.evaluate((all) => {
  const colors = [
    '#3d71d9',
    '#e0752d',
    '#3a9d5d',
    '#c4162a',
    '#8f3bb8',
    '#b8860b',
    '#1f9fb4',
    '#e05c9c',
    '#6b7280',
    '#7cb305',
  ];
  const shown: Record<string, (value: number) => string> = {
    reqps: (value) => `${+value.toPrecision(2)} req/s`,
    ops: (value) => `${+value.toPrecision(2)} /s`,
    s: (value) => (value < 1 ? `${+(value * 1000).toPrecision(2)} ms` : `${+value.toPrecision(2)} s`),
    percentunit: (value) => `${+(value * 100).toPrecision(2)} %`,
    bytes: (value) => `${Math.round(value / 2 ** 20)} MiB`,
    short: (value) => String(+value.toPrecision(3)),
  };
  const main = document.querySelector('main')!;
  for (const { type, title, gridPos, at, lines, fieldConfig } of all) {
    const section = main.appendChild(document.createElement('section'));
    section.className = type;
    section.style.gridArea = `${gridPos.y + 1} / ${gridPos.x + 1} / span ${gridPos.h} / span ${gridPos.w}`;
    section.appendChild(document.createElement('h2')).textContent = title;
    if (type === 'row') continue;
    if (type === 'stat') {
      for (const { name } of lines) {
        const stat = section.appendChild(document.createElement('p'));
        stat.textContent = name;
      }
      continue;
    }
    const valueText = shown[fieldConfig?.defaults.unit ?? 'short']!;
    const { uPlot } = globalThis as never as {
      uPlot: new (options: object, data: object, into: Element) => void;
    };
    new uPlot(
      {
        width: section.clientWidth - 16,
        height: section.clientHeight - 94,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_: unknown, _min: number, max: number) => [0, (max || 1) * 1.1] } },
        axes: [
          {
            space: 80,
            grid: { stroke: '#eceef0' },
            values: (_: unknown, splits: number[]) =>
              splits.map((second) => new Date(second * 1000).toISOString().slice(11, 19)),
          },
          {
            size: 66,
            grid: { stroke: '#eceef0' },
            values: (_: unknown, splits: number[]) => splits.map(valueText),
          },
        ],
        series: [
          {},
          ...lines.map((_, n) => ({
            stroke: colors[n % colors.length],
            width: 1.5,
            points: { show: false },
          })),
        ],
      },
      [at, ...lines.map(({ values }) => values)],
      section,
    );
    const legend = section.appendChild(document.createElement('ul'));
    lines.forEach(({ name }, n) => {
      const item = legend.appendChild(document.createElement('li'));
      item.textContent = name;
      item.style.setProperty('--color', colors[n % colors.length]!);
    });
  }
}, drawn);
await page.screenshot({ path: picture, fullPage: true });
await browser.close();
prometheus.kill();
await Promise.all(streams.map(({ body }) => body?.cancel()));
receiver.close();
await gateway.end();
await rm(folder, { recursive: true });
process.stdout.write(`${picture}\n`);
