import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';

/** The Redis servers that hold keys: all nodes of a cluster by their addresses, or the only server. */
export interface Shards {
  /** Returns the names of all Redis servers that hold keys. */
  names(): string[];
  /** Returns the name of the Redis server that holds a key. */
  shardOf(key: string): string;
  /** Whether the client is connected to a server and can send commands. */
  isConnected(shard: string): boolean;
  /** Returns the slot of a key. In a cluster, one call may use only keys of the same slot. */
  slotOf(key: string): number;
}

/** The name of the only server. It is also the name of a cluster until its nodes are known. */
const onlyShard = 'redis';

/**
 * Returns the Redis servers of a client. For a cluster, the result follows the nodes that the client currently knows.
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
 * The maximum number of attempts to find a Redis key that a given server holds. The number is large enough for a server
 * that holds only a thousandth of the slots.
 */
const maxTries = 20_000;

/**
 * Finds a Redis key that a given server holds. The key consists of the prefix and a number.
 *
 * @throws when the server holds no slots
 */
export function keyOfShard(shards: Shards, shard: string, prefix: string): string {
  for (let number = 0; number < maxTries; number += 1) {
    const key = `${prefix}:${number}`;
    if (shards.shardOf(key) === shard) return key;
  }
  throw new Error(`${shard} has no slots`);
}
