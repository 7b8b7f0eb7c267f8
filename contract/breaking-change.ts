/** A change of the contract that can break a client of the released contract. */
export interface BreakingChange {
  /** The place of the change: `Query.companies` in the graph, `GET /locations 200 data[].name` in REST. */
  path: string;
  /** The difference, in one sentence. */
  message: string;
  /** Whether the change removed something that clients could use. */
  isRemoval: boolean;
}
