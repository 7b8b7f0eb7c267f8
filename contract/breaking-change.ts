/** A change of the API since the last release. The change can break a client that uses the API of the last release. */
export interface BreakingChange {
  /**
   * The place in the API that changed, such as `Query.companies` in the GraphQL API or `GET /locations 200.data[].name`
   * in the REST API.
   */
  path: string;
  /** How the API differs from the API of the last release, in one sentence. */
  message: string;
  /** Whether the change removed a field, an endpoint or another part of the API that clients could use before. */
  isRemoval: boolean;
}
