import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';

/** The servers that hold keys: the nodes of a cluster by their addresses, or the only server. */
export interface Shards {
  /** Returns the names of all servers that hold keys. */
  names(): string[];
  /** Returns the server that holds a key. */
  shardOf(key: string): string;
  /** Whether the connection to a server is ready for commands. */
  isConnected(shard: string): boolean;
  /** Returns the slot of a key. In a cluster, all keys of one call must be in the same slot. */
  slotOf(key: string): number;
}

/** The name of the only server. A cluster whose nodes are not yet known has this name, too. */
const onlyShard = 'redis';

/** The current servers of a client, as far as the client knows them. */
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
 * The maximum number of attempts to find a key that a server holds. This number is enough for a server with a
 * thousandth of the slots.
 */
const maxTries = 20_000;

/**
 * Finds a key that a given server holds. The key consists of a prefix and a number.
 *
 * @throws when the server has no slots
 */
export function keyOfShard(shards: Shards, shard: string, prefix: string): string {
  for (let number = 0; number < maxTries; number += 1) {
    const key = `${prefix}:${number}`;
    if (shards.shardOf(key) === shard) return key;
  }
  throw new Error(`${shard} has no slots`);
}
