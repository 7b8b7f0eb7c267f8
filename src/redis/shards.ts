import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';

/**
 * The Redis servers that store data: either all primary nodes of a cluster, or one server. The name of a cluster node
 * is its address.
 */
export interface Shards {
  /** Returns the names of all Redis servers that store keys. */
  names(): string[];
  /** Returns the name of the Redis server that stores the given Redis key. */
  shardOf(key: string): string;
  /** Whether the client has a ready connection to the given Redis server. */
  isConnected(shard: string): boolean;
  /**
   * Returns the cluster slot of a Redis key. In a Redis cluster, one command may use only keys of one cluster slot.
   */
  slotOf(key: string): number;
}

/**
 * The name of a Redis server that is not part of a cluster. While the client does not yet know the nodes of a cluster,
 * the name `redis` stands for the whole cluster.
 */
const onlyShard = 'redis';

/**
 * Returns the Redis servers of a client. For a Redis cluster, each returned function uses the nodes that the client
 * knows when the function is called.
 */
export function shardsOf(redis: Redis | Cluster): Shards {
  if (!(redis instanceof Cluster)) {
    return {
      names: () => [onlyShard],
      shardOf: () => onlyShard,
      isConnected: () => redis.status === 'ready',
      slotOf: () => 0,
    };
  }
  return {
    names() {
      const primaries = new Set(redis.slots.map(([primary]) => primary).filter(Boolean) as string[]);
      return primaries.size > 0 ? [...primaries] : [onlyShard];
    },
    shardOf: (key) => redis.slots[calculateSlot(key)]?.[0] ?? onlyShard,
    isConnected: (shard) =>
      redis
        .nodes('master')
        .some(({ status, options: { host, port } }) => status === 'ready' && `${host}:${port}` === shard),
    slotOf: (key) => calculateSlot(key),
  };
}

/**
 * The maximum number of Redis keys that the gateway tries in order to find a key that belongs to a given Redis server.
 * Even if a Redis server stores only 0.1% of the cluster slots, 20,000 tries are enough to find a key.
 */
const maxTries = 20_000;

/**
 * Finds a key that a cluster client would store on a given server of the Redis cluster. The Redis key consists of the
 * given prefix and a number.
 *
 * @throws when the Redis server has no cluster slots, and therefore stores no Redis keys
 */
export function keyOfShard(shards: Shards, shard: string, prefix: string): string {
  for (let number = 0; number < maxTries; number += 1) {
    const key = `${prefix}:${number}`;
    if (shards.shardOf(key) === shard) return key;
  }
  throw new Error(`${shard} has no slots`);
}
