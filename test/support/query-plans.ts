/**
 * The fields that the tests read in a node of a query plan. PostgreSQL answers `EXPLAIN (FORMAT JSON)` with the nodes
 * of a query plan. With `ANALYZE`, each node also contains its number of rows.
 */
export interface PlanNode {
  'Node Type': string;
  'Subplan Name'?: string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Returns a node of a query plan, and all nodes below it. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
