import { Cluster, type Redis } from 'ioredis';
import type { Logger } from 'pino';

/** The only eviction policy under which a full Redis refuses what is new and forgets nothing. */
const safePolicy = 'noeviction';

/**
 * Warns of settings of Redis under which limits do not hold, as soon as it answers: an eviction policy that forgets
 * windows when the memory is full, and a cluster of which only one node is named. A Redis that refuses to tell is
 * left alone. Ends when that is done, and never fails.
 */
export async function checkSettings(redis: Redis | Cluster, log: Logger): Promise<void> {
  try {
    if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
    await askAll(redis, log);
  } catch (error) {
    log.debug({ cause: (error as Error).message }, 'Redis does not tell its settings');
  }
}

async function askAll(redis: Redis | Cluster, log: Logger): Promise<void> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  // CONFIG is refused by many hosts of Redis; INFO tells the same and is not.
  const told = await Promise.all(servers.map(async (server) => parseInfo(await server.info())));
  const policies = told
    .filter(({ maxmemory }) => Number(maxmemory) > 0)
    .map(({ maxmemory_policy: policy }) => policy)
    .filter((policy) => policy !== undefined && policy !== safePolicy);
  if (policies.length > 0) {
    log.warn(
      { policy: policies[0] },
      `Redis forgets rate limits when its memory is full: set maxmemory-policy to ${safePolicy}`,
    );
  }
  if (redis instanceof Cluster) return;
  if (told.some(({ redis_mode: mode }) => mode === 'cluster')) {
    log.warn(
      'REDIS_URL names one node of a Redis Cluster: name several, separated by commas, or limits are not shared',
    );
  }
}

/** Reads the answer of INFO, lines of `name:value`. */
function parseInfo(text: string): Record<string, string | undefined> {
  return Object.fromEntries(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
