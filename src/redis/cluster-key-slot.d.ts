/**
 * TypeScript types for the part of the package cluster-key-slot that this project uses. The package cluster-key-slot
 * itself contains no TypeScript types.
 */
declare module 'cluster-key-slot' {
  /**
   * Returns the cluster slot to which a Redis key belongs. If a Redis key has a hash tag, only the hash tag determines
   * the cluster slot (https://redis.io/docs/reference/cluster-spec).
   */
  export default function calculateSlot(key: string): number;
}
