/** A change of the contract that can break a client that was written for the released one. */
export interface BreakingChange {
  /** Where: `Query.companies` in the graph, `GET /locations 200 data[].name` in REST. */
  path: string;
  /** What is different, in one sentence. */
  message: string;
  /** Something that clients could use is gone. */
  isRemoval: boolean;
}
