/** A change of the API that can break a client which was written for the last release. */
export interface BreakingChange {
  /** The place of the change, such as `Query.companies` in the graph or `GET /locations 200 data[].name` in REST. */
  path: string;
  /** The difference from the last release, in one sentence. */
  message: string;
  /** Whether the change removed something that clients could use before. */
  isRemoval: boolean;
}
