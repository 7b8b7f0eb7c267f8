/** The part of cluster-key-slot that is used; the package has no types of its own. */
declare module 'cluster-key-slot' {
  /** The slot of a key in a cluster, by its hash tag if it has one (https://redis.io/docs/reference/cluster-spec). */
  export default function calculateSlot(key: string): number;
}
