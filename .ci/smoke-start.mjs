// Starts the built gateway with the Node version that runs this file, sends one REST request and one GraphQL request,
// and stops the gateway. The script .ci/run starts this file with the Node version in .nvmrc, which the container image
// also uses. The test suites use the Node version that is installed on the machine, so only this script tests the
// gateway with the Node version in .nvmrc.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const startTimeoutMs = 60_000;

const key = randomUUID();
const dataDir = await mkdtemp(join(tmpdir(), 'smoke-start-'));
const server = spawn(process.execPath, ['--enable-source-maps', 'dist/server.js'], {
  env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, OPERATOR_API_KEY: key },
  stdio: ['ignore', 'pipe', 'inherit'],
  timeout: startTimeoutMs,
});
const exited = once(server, 'exit');

try {
  const url = await listeningUrl();
  await ask('REST', `${url}/api/health`, {}, (body) => body.status);
  const query = JSON.stringify({ query: '{ health { status } }' });
  await ask(
    'GraphQL',
    `${url}/graphql`,
    { method: 'POST', body: query },
    (body) => body.data?.health?.status,
  );
  server.kill('SIGTERM');
  const [code] = await exited;
  if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  console.log(`Node ${process.version}: started, answered over REST and GraphQL, stopped`);
} finally {
  server.kill('SIGKILL');
  await exited;
  await rm(dataDir, { recursive: true });
}

/** Waits until the gateway logs the URL at which it listens, and returns the URL. */
async function listeningUrl() {
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.includes('"msg":"listening"')) return JSON.parse(line).url;
  }
  throw new Error('the gateway ended before it listened');
}

/**
 * Sends a request. Throws an error if the response is not successful, or if the response does not contain the health
 * status of the gateway.
 */
async function ask(surface, address, init, statusOf) {
  const answer = await fetch(address, {
    ...init,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
  });
  const body = await answer.json();
  if (!answer.ok || !statusOf(body)) {
    throw new Error(`${surface} answered ${answer.status}: ${JSON.stringify(body)}`);
  }
}
