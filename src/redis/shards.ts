import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';

/** Which server has which keys: the nodes of a cluster by their addresses, or the only server. */
export interface Shards {
  /** All servers that have keys. */
  names(): string[];
  /** The server that has a key. */
  shardOf(key: string): string;
  /** The slot of a key: what one call names in a cluster has one slot. */
  slotOf(key: string): number;
}

/** The name of the only server, and of a cluster whose nodes are not known yet. */
const onlyShard = 'redis';

/** Tells which server has which keys, as the client of a cluster knows it at the moment. */
export function shardsOf(redis: Redis | Cluster): Shards {
  if (!(redis instanceof Cluster)) {
    return { names: () => [onlyShard], shardOf: () => onlyShard, slotOf: () => 0 };
  }
  return {
    names() {
      const primaries = new Set(redis.slots.map(([primary]) => primary).filter(Boolean) as string[]);
      return primaries.size > 0 ? [...primaries] : [onlyShard];
    },
    shardOf: (key) => redis.slots[calculateSlot(key)]?.[0] ?? onlyShard,
    slotOf: (key) => calculateSlot(key),
  };
}

/** How many keys are tried until one is found that a server has: enough for a server with a thousandth of the slots. */
const maxTries = 20_000;

/**
 * A key that a server has, made of a prefix and a number.
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
