/**
 * TypeScript types for the part of the package cluster-key-slot that this project uses. The package cluster-key-slot
 * itself contains no TypeScript types.
 */
declare module 'cluster-key-slot' {
  /**
   * Returns the slot of a Redis key in a cluster. If the key has a hash tag, only the hash tag determines the slot
   * (https://redis.io/docs/reference/cluster-spec).
   */
  export default function calculateSlot(key: string): number;
}
