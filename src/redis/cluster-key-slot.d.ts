/** The part of cluster-key-slot that this project uses. The package has no types of its own. */
declare module 'cluster-key-slot' {
  /**
   * Returns the slot of a key in a cluster. If the key has a hash tag, the hash tag determines the slot
   * (https://redis.io/docs/reference/cluster-spec).
   */
  export default function calculateSlot(key: string): number;
}
