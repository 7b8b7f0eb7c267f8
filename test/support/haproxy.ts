import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually, freePort, newServerFolder } from './system-servers.ts';

/** The full path of HAProxy in Debian, because the PATH of some users does not contain the folder /usr/sbin. */
const haproxy = '/usr/sbin/haproxy';

/** Whether HAProxy is installed. In CI, a missing HAProxy makes the test run fail. */
export const hasHaproxy = existsSync(haproxy);

if (!hasHaproxy && process.env.CI) throw new Error('No HAProxy: install the package haproxy');
if (!hasHaproxy) console.warn('NO HAPROXY: the tests do not check the load balancer. Install haproxy.');

/** The names of the configuration files in docs/scaling, in the order in which HAProxy must read them. */
export const haproxyFiles = ['global.cfg', 'haproxy.cfg', 'gateways.cfg'] as const;

const documented = (name: (typeof haproxyFiles)[number]) =>
  new URL(`../../docs/scaling/${name}`, import.meta.url);

/**
 * Checks the HAProxy configuration from docs/scaling. Returns the warnings and errors that HAProxy reports for the
 * configuration files, or an empty text if HAProxy reports none.
 */
export function haproxyComplaints(): string {
  const files = haproxyFiles.flatMap((name) => ['-f', fileURLToPath(documented(name))]);
  const { status, stderr } = spawnSync(haproxy, ['-c', ...files], { encoding: 'utf8' });
  const complaints = stderr.split('\n').filter((line) => /^\[(WARNING|ALERT)\]/.test(line));
  return status === 0 ? complaints.join('\n') : stderr;
}

/** The lines of global.cfg that HAProxy can apply only when root starts HAProxy. */
const linesForRoot = ['  user haproxy\n', '  group haproxy\n', '  chroot /var/lib/haproxy\n'];

/** The maximum time from the start of HAProxy until HAProxy forwards a request to a gateway. */
const startTimeoutMs = 30_000;

/** An HAProxy process for one test, with the configuration from docs/scaling. */
export interface Balancer {
  url: string;
  /** Sends a command such as `show stat` to the administration socket of HAProxy, and returns the output. */
  command(line: string): Promise<string>;
  /** Returns the lines that HAProxy has written to its log so far. */
  log(): string;
  remove(): Promise<void>;
}

/** Replaces a text in the HAProxy configuration from docs/scaling. */
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
  if (!hasHaproxy) throw new Error('The package haproxy is missing');
  const folder = await newServerFolder('haproxy');
  const port = await freePort();
  const socket = join(folder, 'admin.sock');
  const read = (name: (typeof haproxyFiles)[number]) => readFile(documented(name), 'utf8');
  let log = '';
  const logReceiver = createSocket('udp4', (line) => (log += `${line.toString().trimEnd()}\n`));
  logReceiver.unref().bind(0, '127.0.0.1');
  await once(logReceiver, 'listening');
  let global = put(await read('global.cfg'), '/run/haproxy/admin.sock', socket);
  global = put(global, '/dev/log', `127.0.0.1:${logReceiver.address().port}`);
  if (userInfo().uid !== 0) for (const line of linesForRoot) global = put(global, line, '');
  let gateways = await read('gateways.cfg');
  for (const [index, gatewayPort] of gatewayPorts.entries())
    gateways = put(gateways, `127.0.0.1:${3001 + index}`, `127.0.0.1:${gatewayPort}`);
  const contents = [global, put(await read('haproxy.cfg'), ':3000', `127.0.0.1:${port}`), gateways];
  const files = haproxyFiles.map((name) => join(folder, name));
  for (const [index, file] of files.entries()) await writeFile(file, contents[index]!);
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
    log: () => log,
    async remove() {
      child.kill('SIGKILL');
      logReceiver.close();
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
