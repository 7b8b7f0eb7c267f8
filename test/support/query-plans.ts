/**
 * The fields that the tests read in a node of a query plan. `EXPLAIN (FORMAT JSON)` returns the node, and `EXPLAIN
 * (ANALYZE, FORMAT JSON)` also returns the number of rows.
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
