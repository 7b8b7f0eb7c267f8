import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createRedis,
  eventually,
  freePort,
  newServerFolder,
  type RedisAccess,
  redisAccessOptions,
  redisClient,
  type SystemServer,
} from './system-servers.ts';

// The functions of this file start Redis servers for one test: a Redis cluster, or a primary server with replicas and
// sentinels.

/** The maximum time until the Redis servers of a group have found each other. */
const formTimeoutMs = 60_000;
/** The time in milliseconds after which other Redis servers treat a silent Redis server as down. */
const lostAfterMs = 1_000;

const portOf = (url: string) => Number(new URL(url).port);

/** Sends a command to one Redis server. */
async function ask<Answer>(
  { url }: SystemServer,
  access: RedisAccess,
  ...[command, ...args]: [string, ...(string | number)[]]
): Promise<Answer> {
  const client = redisClient(url, access);
  try {
    await client.connect();
    return (await client.call(command, ...args)) as Answer;
  } finally {
    client.disconnect();
  }
}

/** A group of Redis servers that a test may kill. */
export interface RedisGroup {
  nodes: SystemServer[];
  remove(): Promise<void>;
}

/** The number of hash slots of a Redis cluster. */
const slotCount = 16_384;

/**
 * Starts a Redis cluster with the given number of primaries and without replicas. When a node of the cluster fails, its
 * hash slots are unavailable, but the other nodes still serve their own hash slots.
 */
export async function startRedisCluster(count: number, access: RedisAccess = {}): Promise<RedisGroup> {
  const nodes = await Promise.all(
    Array.from({ length: count }, async () =>
      createRedis(
        [
          ...['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
          ...['--cluster-node-timeout', String(lostAfterMs), '--cluster-require-full-coverage', 'no'],
          ...(access.certificate ? ['--tls-cluster', 'yes'] : []),
        ],
        access,
      ),
    ),
  );
  await Promise.all(nodes.map((node) => node.start()));
  const slotsOf = (index: number) => Math.floor((slotCount * index) / count);
  for (const [index, node] of nodes.entries()) {
    await ask(node, access, 'CLUSTER', 'ADDSLOTSRANGE', slotsOf(index), slotsOf(index + 1) - 1);
    const busPort = Number((await ask<[string, string]>(node, access, 'CONFIG', 'GET', 'cluster-port'))[1]);
    for (const other of nodes)
      if (other !== node) await ask(other, access, 'CLUSTER', 'MEET', '127.0.0.1', portOf(node.url), busPort);
  }
  await eventually(
    'the cluster has all slots',
    async () => {
      for (const node of nodes) {
        const info = await ask<string>(node, access, 'CLUSTER', 'INFO');
        if (!info.includes('cluster_state:ok') || !info.includes(`cluster_size:${count}`))
          throw new Error(info);
      }
    },
    formTimeoutMs,
  );
  return { nodes, remove: async () => void (await Promise.all(nodes.map((node) => node.remove()))) };
}

/** The name of the Redis primary in the configuration of the sentinels. */
export const primaryName = 'limits';

/**
 * Redis sentinels, with the Redis servers that the sentinels monitor. Before the first failover, `nodes[0]` is the
 * primary Redis server.
 */
export interface SentinelGroup extends RedisGroup {
  /** The addresses of the sentinels, in the format of REDIS_SENTINELS. */
  addresses: string;
  /** Returns the port of the Redis server that the sentinels regard as the primary. */
  primaryPort(): Promise<number>;
}

/**
 * Starts a Redis primary, two replicas and three sentinels. If `access` contains a password, the Redis servers and the
 * sentinels all require this password. If `access` contains a certificate, the Redis servers and the sentinels all use
 * TLS.
 */
export async function startSentinels(access: RedisAccess = {}): Promise<SentinelGroup> {
  const primary = await createRedis([], access);
  await primary.start();
  const replicaOf = ['--replicaof', '127.0.0.1', String(portOf(primary.url))];
  const replicas = [await createRedis(replicaOf, access), await createRedis(replicaOf, access)];
  await Promise.all(replicas.map((replica) => replica.start()));
  const folder = await newServerFolder('sentinel');
  const ports = [await freePort(), await freePort(), await freePort()];
  const children = await Promise.all(
    ports.map(async (port) => {
      const file = join(folder, `${port}.conf`);
      const settings = [
        'bind 127.0.0.1',
        `dir ${folder}`,
        ...(access.password ? [`sentinel sentinel-pass ${access.password}`] : []),
        `sentinel monitor ${primaryName} 127.0.0.1 ${portOf(primary.url)} 2`,
        ...(access.password ? [`sentinel auth-pass ${primaryName} ${access.password}`] : []),
        `sentinel down-after-milliseconds ${primaryName} ${lostAfterMs}`,
        `sentinel failover-timeout ${primaryName} 5000`,
      ];
      await writeFile(file, `${settings.join('\n')}\n`);
      const options = redisAccessOptions(port, access);
      return spawn('redis-server', [file, '--sentinel', ...options], { stdio: 'ignore' });
    }),
  );
  const urls = ports.map((port) => primary.url.replace(/\d+$/, String(port)));
  const askSentinel = async <Answer>(url: string, ...command: [string, ...string[]]) =>
    ask<Answer>({ ...primary, url }, access, ...command);
  await eventually(
    'the sentinels know each other and the replicas',
    async () => {
      for (const url of urls) {
        const answer = await askSentinel<string[]>(url, 'SENTINEL', 'MASTER', primaryName);
        const told = (name: string) => Number(answer[answer.indexOf(name) + 1]);
        if (told('num-other-sentinels') < 2 || told('num-slaves') < replicas.length)
          throw new Error(answer.join(' '));
      }
    },
    formTimeoutMs,
  );
  const group: SentinelGroup = {
    nodes: [primary, ...replicas],
    addresses: ports.map((port) => `127.0.0.1:${port}`).join(),
    async primaryPort() {
      const [, port] = await askSentinel<[string, string]>(
        urls[0]!,
        'SENTINEL',
        'GET-MASTER-ADDR-BY-NAME',
        primaryName,
      );
      return Number(port);
    },
    async remove() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(group.nodes.map((node) => node.remove()));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return group;
}
