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

// The functions in this file start PostgreSQL and Redis servers for one test, with the server programs that are
// installed on the machine. A test can kill, freeze and restart its own servers without any effect on other servers.

const run = promisify(execFile);

/** The maximum time from the start of a PostgreSQL or Redis server until the server responds. */
const startTimeoutMs = 30_000;

/** A PostgreSQL or Redis server that a test starts only for itself, and may kill. */
export interface SystemServer {
  url: string;
  /**
   * Starts the server and waits until the server responds. When a test starts a server again, the server still has the
   * data that it had written to disk before.
   */
  start(): Promise<void>;
  /** Kills the server at once, like a power cut. */
  kill(): Promise<void>;
  /** Pauses the server with SIGSTOP, so that the connections stay open but the server does not respond. */
  freeze(): void;
  /** Continues a frozen server with SIGCONT. */
  thaw(): void;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
}

/**
 * The range of ports from which each test server gets a free port. All ports in the range are below 32768, because
 * Linux uses port 32768 and higher ports for outgoing connections.
 */
const serverPorts = { least: 10_000, most: 32_000 };

/** Returns a free TCP port on loopback. */
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

/**
 * Calls a function again and again until the function succeeds. If the function still fails after the given time,
 * `eventually` throws an error.
 */
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

/** Returns the ids of a process and of all its descendants. */
function processTree(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [number, number][] => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
      } catch {
        return []; // The process ended after its name was read from /proc.
      }
    });
  const tree = [pid];
  for (const parent of tree) tree.push(...parents.filter(([, of]) => of === parent).map(([child]) => child));
  return tree;
}

/**
 * Returns whether a process is running. A process that has ended stays in /proc as a zombie until its parent process
 * reads its exit code.
 */
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
      // `process.kill` throws an error when the process has already ended.
    }
  }
}

/**
 * Returns the path of a PostgreSQL program on Debian, where the PATH does not contain the folder of the program. On
 * other systems, the PATH contains this folder, so the function returns only the name of the program.
 */
function postgresProgram(name: string): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const [newest] = versions;
  return newest ? join(root, newest, 'bin', name) : name;
}

/**
 * The operating system user that runs a test server. Without `uid` and `gid`, a test server runs as the user of the
 * test process.
 */
interface ServerUser {
  uid?: number;
  gid?: number;
}

/** PostgreSQL and PgBouncer refuse to run as root, so they run as the user `postgres` when root runs the tests. */
async function serverUser(): Promise<ServerUser> {
  if (userInfo().uid !== 0) return {};
  const idOf = async (kind: '-u' | '-g') => Number((await run('id', [kind, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

/**
 * Creates a folder for a test server. When the test process ends, a guard process removes the folder of the test server
 * if the folder still exists.
 */
export async function newServerFolder(name: string, { uid }: ServerUser = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `own-${name}-`));
  removeWithThisProcess(folder);
  if (uid !== undefined) await chown(folder, uid, -1);
  await chmod(folder, 0o700);
  return folder;
}

/**
 * Creates a PostgreSQL server, but does not start the server.
 *
 * @param settings the names and values of settings in postgresql.conf
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
  /** Promotes the standby server to the primary server, and waits until it accepts writes. */
  promote(): Promise<void>;
}

/**
 * Starts a standby that replicates a running PostgreSQL server.
 * @param name the name of the standby in the primary's `synchronous_standby_names`
 */
export async function startStandby(primary: SystemServer, name: string): Promise<Standby> {
  const user = await serverUser();
  const folder = await newServerFolder('postgres', user);
  const source = ['-d', primary.url, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
  await run(postgresProgram('pg_basebackup'), ['-D', join(folder, 'data'), ...source], { cwd: '/', ...user });
  // The duration of the first checkpoint after the promotion of a standby depends on `checkpoint_timeout`. With a
  // `checkpoint_timeout` of one day, this checkpoint is as slow as the checkpoint of a large database, and lasts until
  // the test ends.
  const server = await postgresOver(folder, user, { cluster_name: name, checkpoint_timeout: '1d' });
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

/** Creates a PostgreSQL server whose data is in the given folder. */
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
          // After PostgreSQL was killed, it refuses to start until the last of its processes has ended.
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

/** The password and the TLS certificate of a Redis server that a test starts. */
export interface RedisAccess {
  password?: string;
  /** When a certificate is given, the Redis server accepts only TLS connections. */
  certificate?: OwnCertificate;
}

/** Creates a Redis client that tries only once to connect to its server. */
export const redisClient = (url: string, { certificate }: RedisAccess = {}): Redis => {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    ...(certificate && { tls: { ca: readFileSync(certificate.file) } }),
  });
  client.on('error', () => undefined);
  return client;
};

/** Returns the command-line options that set the port, the password and TLS for a Redis server or a sentinel. */
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
 * Creates a Redis server that writes no data to disk, but does not start the server.
 * @param options command-line options of redis-server, such as `--maxmemory`
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

/** The full path of PgBouncer in Debian, because the PATH of some users does not contain the folder /usr/sbin. */
const pgBouncer = '/usr/sbin/pgbouncer';

/**
 * True if the test run includes the tests that need PgBouncer. Outside of CI, these tests run only if PgBouncer is
 * installed. In CI, these tests always run, because a missing PgBouncer must make them fail.
 */
export const hasPgBouncer = existsSync(pgBouncer) || Boolean(process.env.CI);

/** A PgBouncer process that one test starts. */
export interface Pooler {
  /**
   * The URL of a database on the PostgreSQL server, with the address of the pooler in place of the server's own
   * address. The pooler forwards connections to every database of the server.
   */
  url: string;
  remove(): Promise<void>;
}

/**
 * Starts PgBouncer in transaction mode, in which a client occupies a server connection only during a transaction. Like
 * a PgBouncer with default settings, this PgBouncer refuses unknown startup parameters.
 * @param serverUrl the URL of the PostgreSQL behind the pooler
 * @param serverConnections the number of connections to the PostgreSQL server, which all clients of the pooler share
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
  // The embedded database changes the umask of the test process. If PgBouncer runs as another user, it may therefore be
  // unable to read its configuration files. The test therefore makes this user the owner of the configuration files.
  if (user.uid !== undefined) await Promise.all([users, settings].map((file) => chown(file, user.uid!, -1)));
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
