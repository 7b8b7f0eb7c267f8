import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { OwnCertificate } from './certificate.ts';
import { removeWithThisProcess } from './guards.ts';

// These functions start PostgreSQL and Redis servers for one test, from the programs of the system. A test can kill,
// freeze and restart its servers without any effect on other servers.

const run = promisify(execFile);

/** The maximum time until a started PostgreSQL or Redis server answers. */
const startTimeoutMs = 30_000;

/** A PostgreSQL or Redis server that one test owns and may kill. */
export interface SystemServer {
  url: string;
  /** Starts the server and waits until the server answers. A restarted server has its data on disk. */
  start(): Promise<void>;
  /** Kills the server at once, like a power cut. */
  kill(): Promise<void>;
  /** Stops every process of the server (SIGSTOP): connections stay open, and nothing answers. */
  freeze(): void;
  /** Continues a frozen server (SIGCONT). */
  thaw(): void;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
}

/**
 * The range of ports for servers of the tests. The range lies below the ports that Linux gives to outgoing connections
 * (32768 and above). Otherwise, a connection could take a free port before its server listens.
 */
const serverPorts = { least: 10_000, most: 32_000 };

/** Returns a free port on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(serverPorts.least, serverPorts.most);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Repeats a function until it succeeds. */
export async function eventually<Result>(
  what: string,
  work: () => Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > end)
        throw new Error(`Not true within ${timeoutMs} ms: ${what}`, { cause: error });
      await sleep(100);
    }
  }
}

/** The ids of a process and of all its descendants. */
function processTree(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [number, number][] => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
      } catch {
        return []; // The process has ended in the meantime.
      }
    });
  const tree = [pid];
  for (const parent of tree) tree.push(...parents.filter(([, of]) => of === parent).map(([child]) => child));
  return tree;
}

/** Whether a process runs. A process that has ended stays in /proc as a zombie until its parent collects it. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended in the meantime.
    }
  }
}

/** Finds a server program. Debian does not put the program on the PATH, and other systems do. */
function postgresProgram(name: string): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const [newest] = versions;
  return newest ? join(root, newest, 'bin', name) : name;
}

/** The operating system user that runs a server. An empty text means the user of the test process. */
interface ServerUser {
  uid?: number;
  gid?: number;
}

/**
 * PostgreSQL and PgBouncer refuse to run as root. Therefore root runs both programs as the user of Debian's package.
 */
async function serverUser(): Promise<ServerUser> {
  if (userInfo().uid !== 0) return {};
  const idOf = async (kind: '-u' | '-g') => Number((await run('id', [kind, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

/**
 * Creates a folder for a server. The end of this process removes the folder, or the test removes the folder earlier.
 */
export async function newServerFolder(name: string, { uid }: ServerUser = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `own-${name}-`));
  removeWithThisProcess(folder);
  if (uid !== undefined) await chown(folder, uid, -1);
  await chmod(folder, 0o700);
  return folder;
}

/**
 * Creates a PostgreSQL server without starting it.
 *
 * @param settings lines of postgresql.conf
 */
export async function createPostgres(settings: Record<string, string> = {}): Promise<SystemServer> {
  const user = await serverUser();
  const folder = await newServerFolder('postgres', user);
  const options = ['-D', join(folder, 'data'), '-A', 'trust', '-U', 'postgres', '--no-sync'];
  await run(postgresProgram('initdb'), options, { cwd: '/', ...user });
  return postgresOver(folder, user, settings);
}

/** A PostgreSQL standby: a read-only server that follows a primary. */
export interface Standby extends SystemServer {
  /** Makes the standby the new primary, and waits until the new primary accepts writes. */
  promote(): Promise<void>;
}

/**
 * Starts a streaming standby of a running PostgreSQL server.
 * @param name the name of the standby in the primary's `synchronous_standby_names`
 */
export async function startStandby(primary: SystemServer, name: string): Promise<Standby> {
  const user = await serverUser();
  const folder = await newServerFolder('postgres', user);
  const source = ['-d', primary.url, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
  await run(postgresProgram('pg_basebackup'), ['-D', join(folder, 'data'), ...source], { cwd: '/', ...user });
  const server = await postgresOver(folder, user, { cluster_name: name });
  await server.start();
  return {
    ...server,
    async promote() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query('SELECT pg_promote()');
      await client.end();
    },
  };
}

/** A PostgreSQL server with its data in a folder. */
async function postgresOver(
  folder: string,
  user: ServerUser,
  settings: Record<string, string>,
): Promise<SystemServer> {
  const data = join(folder, 'data');
  const port = await freePort();
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', ...settings };
  const postmaster = () => Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
  const isGone = async (pid: number) => {
    if (isRunning(pid)) throw new Error(`Process ${pid} still runs`);
  };

  const server: SystemServer = {
    url,
    async start() {
      const settingOptions = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const serverArguments = ['-D', data, '-p', String(port), ...settingOptions];
      const spawnServer = () =>
        spawn(postgresProgram('postgres'), serverArguments, { cwd: '/', stdio: 'ignore', ...user });
      let child = spawnServer();
      await eventually(
        'PostgreSQL answers',
        async () => {
          // A PostgreSQL server refuses to start until the last process of the killed server has ended.
          if (child.exitCode !== null) child = spawnServer();
          const client = new pg.Client({ connectionString: url });
          client.on('error', () => undefined);
          await client.connect();
          await client.end();
        },
        startTimeoutMs,
      );
    },
    async kill() {
      const pids = processTree(postmaster());
      signal(pids, 'SIGKILL');
      await Promise.all(pids.map((pid) => eventually('PostgreSQL ends', () => isGone(pid), startTimeoutMs)));
      await rm(join(data, 'postmaster.pid'), { force: true });
    },
    freeze: () => signal(processTree(postmaster()), 'SIGSTOP'),
    thaw: () => signal(processTree(postmaster()).reverse(), 'SIGCONT'),
    async remove() {
      if (existsSync(join(data, 'postmaster.pid'))) await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** The password and the TLS certificate of a test's own Redis. */
export interface RedisAccess {
  password?: string;
  /** With a certificate, the Redis server accepts only TLS connections. */
  certificate?: OwnCertificate;
}

/** Creates a Redis client that tries once to connect to a server. */
export const redisClient = (url: string, { certificate }: RedisAccess = {}): Redis => {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    ...(certificate && { tls: { ca: readFileSync(certificate.file) } }),
  });
  client.on('error', () => undefined);
  return client;
};

/** The options of redis-server and of a sentinel for password and TLS. */
export function redisAccessOptions(port: number, { password, certificate }: RedisAccess): string[] {
  return [
    ...(certificate
      ? ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no']
      : ['--port', String(port)]),
    ...(certificate ? ['--tls-cert-file', certificate.file, '--tls-key-file', certificate.keyFile] : []),
    ...(certificate ? ['--tls-ca-cert-file', certificate.file, '--tls-replication', 'yes'] : []),
    ...(password ? ['--requirepass', password] : []),
  ];
}

/**
 * Creates a Redis server without starting the server. The server keeps nothing on disk.
 * @param options options of redis-server, such as `--maxmemory`
 */
export async function createRedis(
  options: readonly string[] = [],
  access: RedisAccess = {},
): Promise<SystemServer> {
  const folder = await newServerFolder('redis');
  const port = await freePort();
  const credentials = access.password ? `:${access.password}@` : '';
  const url = `${access.certificate ? 'rediss' : 'redis'}://${credentials}127.0.0.1:${port}`;
  let pid: number | undefined;
  const pids = () => (pid === undefined ? [] : [pid]);

  const server: SystemServer = {
    url,
    async start() {
      const place = [...redisAccessOptions(port, access), '--bind', '127.0.0.1', '--dir', folder];
      if (access.password) place.push('--masterauth', access.password);
      pid = spawn('redis-server', [...place, '--save', '', ...options], { stdio: 'ignore' }).pid;
      await eventually(
        'Redis answers',
        async () => {
          const client = redisClient(url, access);
          try {
            await client.connect();
            await client.ping();
          } finally {
            client.disconnect();
          }
        },
        startTimeoutMs,
      );
    },
    async kill() {
      signal(pids(), 'SIGKILL');
      pid = undefined;
    },
    freeze: () => signal(pids(), 'SIGSTOP'),
    thaw: () => signal(pids(), 'SIGCONT'),
    async remove() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** The path of PgBouncer in Debian's package, which is not on every user's PATH. */
const pgBouncer = '/usr/sbin/pgbouncer';

/** Whether PgBouncer is installed. In CI the value is always true, so that a missing PgBouncer fails its tests. */
export const hasPgBouncer = existsSync(pgBouncer) || Boolean(process.env.CI);

/** A PgBouncer process of one test. */
export interface Pooler {
  /**
   * The URL of the pooler, in the form of the server's URL. Every database of the server is available through the
   * pooler.
   */
  url: string;
  remove(): Promise<void>;
}

/**
 * Starts a PgBouncer in transaction mode, where a client holds a connection of the server only for the duration of a
 * transaction. This PgBouncer refuses unknown startup parameters, as its default settings do.
 * @param serverUrl the URL of the PostgreSQL behind the pooler
 * @param serverConnections the number of connections to the server that the clients of the pooler share
 */
export async function startPgBouncer(serverUrl: string, serverConnections: number): Promise<Pooler> {
  const user = await serverUser();
  const folder = await newServerFolder('pgbouncer', user);
  const server = new URL(serverUrl);
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(
    settings,
    [
      '[databases]',
      `* = host=${server.hostname} port=${server.port || 5432}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `default_pool_size = ${serverConnections}`,
      'max_client_conn = 200',
    ].join('\n'),
  );
  const child = spawn(pgBouncer, ['--quiet', settings], { cwd: folder, stdio: 'ignore', ...user });
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  await eventually(
    'PgBouncer answers',
    async () => {
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
    },
    startTimeoutMs,
  );
  return {
    url: url.href,
    async remove() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
