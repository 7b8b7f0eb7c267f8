/** The used part of cluster-key-slot, which has no types of its own. */
declare module 'cluster-key-slot' {
  /** The slot of a key in a cluster, by its hash tag if it has one (https://redis.io/docs/reference/cluster-spec). */
  export default function calculateSlot(key: string): number;
}
