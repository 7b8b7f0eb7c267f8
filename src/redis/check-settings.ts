import { Cluster, type Redis } from 'ioredis';
import type { Logger } from 'pino';

/**
 * The only eviction policy of Redis with which rate limits are reliable. With `noeviction`, a full Redis rejects new
 * data instead of removing existing data.
 */
const safePolicy = 'noeviction';

/**
 * Logs a warning about Redis settings that make the rate limits wrong. Two settings make the rate limits wrong: an
 * eviction policy that removes data when the memory is full, and a REDIS_URL that names only one node of a cluster.
 * `checkSettings` first waits until Redis is ready. If Redis does not return its settings, `checkSettings` logs no
 * warning and throws no error.
 */
export async function checkSettings(redis: Redis | Cluster, log: Logger): Promise<void> {
  try {
    if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
    await askAll(redis, log);
  } catch (error) {
    log.debug({ cause: (error as Error).message }, 'The settings of Redis could not be read');
  }
}

async function askAll(redis: Redis | Cluster, log: Logger): Promise<void> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  // The gateway reads the settings with the command INFO, because many providers of Redis forbid the more usual command
  // CONFIG.
  const infos = await Promise.all(servers.map(async (server) => parseInfo(await server.info())));
  const policies = infos
    .filter(({ maxmemory }) => Number(maxmemory) > 0)
    .map(({ maxmemory_policy: policy }) => policy)
    .filter((policy) => policy !== undefined && policy !== safePolicy);
  if (policies.length > 0) {
    log.warn(
      { policy: policies[0] },
      `Redis removes rate limits when its memory is full; set maxmemory-policy to ${safePolicy}`,
    );
  }
  if (redis instanceof Cluster) return;
  if (infos.some(({ redis_mode: mode }) => mode === 'cluster')) {
    log.warn(
      'REDIS_URL names one node of a Redis Cluster, so limits are not shared: name several nodes, separated by commas',
    );
  }
}

/** Parses the response to the Redis command INFO, in which each line with a value has the form `name:value`. */
function parseInfo(text: string): Record<string, string | undefined> {
  return Object.fromEntries(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
