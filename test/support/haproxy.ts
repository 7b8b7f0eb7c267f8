import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually, freePort, newServerFolder } from './system-servers.ts';

/** The full path of HAProxy in Debian. The folder /usr/sbin is not in the PATH of every user. */
const haproxy = '/usr/sbin/haproxy';

/** The maximum time from the start of HAProxy until it forwards a request to a gateway. */
const startTimeoutMs = 30_000;

/** An HAProxy process for one test, with the configuration from docs/scaling. */
export interface Balancer {
  url: string;
  /** Sends a command such as `show stat` to the administration socket of HAProxy, and returns the output. */
  command(line: string): Promise<string>;
  remove(): Promise<void>;
}

/** Replaces a text in the documented configuration of HAProxy. */
function put(configuration: string, place: string, value: string): string {
  if (!configuration.includes(place)) throw new Error(`docs/scaling no longer contains ${place}`);
  return configuration.replaceAll(place, value);
}

/**
 * Starts HAProxy on a free port, with the configuration from docs/scaling.
 *
 * @param gatewayPorts the ports of the gateways, one for each gateway in docs/scaling/gateways.cfg
 */
export async function startHaproxy(gatewayPorts: readonly number[]): Promise<Balancer> {
  if (!existsSync(haproxy)) throw new Error('The package haproxy is missing');
  const folder = await newServerFolder('haproxy');
  const port = await freePort();
  const socket = join(folder, 'admin.sock');
  const documented = (name: string) =>
    readFile(new URL(`../../docs/scaling/${name}`, import.meta.url), 'utf8');
  let gateways = put(await documented('gateways.cfg'), '/run/haproxy/admin.sock', socket);
  for (const [index, gatewayPort] of gatewayPorts.entries())
    gateways = put(gateways, `127.0.0.1:${3001 + index}`, `127.0.0.1:${gatewayPort}`);
  const files = [join(folder, 'haproxy.cfg'), join(folder, 'gateways.cfg')];
  await writeFile(files[0]!, put(await documented('haproxy.cfg'), ':3000', `127.0.0.1:${port}`));
  await writeFile(files[1]!, gateways);
  const child = spawn(haproxy, ['-db', ...files.flatMap((file) => ['-f', file])], {
    cwd: folder,
    stdio: 'ignore',
  });
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    async command(line) {
      const connection = createConnection(socket);
      connection.write(`${line}\n`);
      return text(connection);
    },
    async remove() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
  await eventually(
    'HAProxy reaches a gateway',
    async () => {
      if (!(await fetch(`${balancer.url}/livez`)).ok) throw new Error('HAProxy reaches no gateway');
    },
    startTimeoutMs,
  );
  return balancer;
}
