import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLSchema,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { ServiceError } from '../errors/error-table.ts';
import {
  costPerPoint,
  maxCost,
  maxRootMutationFields,
  maxVariableDepth,
  maxVariableValues,
} from './limits.ts';
import type { OperationPlan, Variables } from './operation-plan.ts';

/** How a field counts, as schema/field-options-plugin.ts says it. */
interface CostExtensions {
  /**
   * What the field costs itself, and how often its selection is counted; what reads the database within for each item
   * when `wholeReads` says so. Objects and fields with `reads` do; what is in an object with `reads: false` counts as if
   * it stood in its place.
   */
  cost?: { field: number; multiplier: number; wholeReads?: boolean; reads?: boolean };
  /** For a field with pages: how many items a page has when the client does not say it. */
  pageSize?: number;
}

/** Where a selection stands. */
interface Surroundings {
  /** How many items the lists of the page have that it is the selection of, or rows the call; 1 outside of both. */
  items: number;
  /** How many lists it is nested in. */
  lists: number;
}

/** What operations cost whose pages and rows are written in the document, so that each costs the same for good. */
const fixedCosts = new WeakMap<OperationPlan, number>();

/** Whether a field reads the database for the item that it belongs to. */
const reads = ({ type, extensions }: GraphQLField<unknown, unknown>) =>
  (extensions as CostExtensions).cost?.reads ?? isObjectType(getNamedType(type));

const metaFields: Record<string, GraphQLField<unknown, unknown>> = {
  __typename: TypeNameMetaFieldDef,
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

/** Introspection of GraphiQL nests lists so deep; what is deeper is multiplied as if each list had this many items. */
const freeIntrospectionLists = 3;
const introspectionListItems = 10;

/** Adds up what the fields of an operation cost; fragments count where they are spread. */
function costOf(schema: GraphQLSchema, plan: OperationPlan, variables: Variables): number {
  const known = fixedCosts.get(plan);
  if (known !== undefined) return known;
  const { operation, document } = plan;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const defaults = new Map(
    operation.variableDefinitions?.map((node) => [node.variable.name.value, node.defaultValue] as const),
  );

  /** The value of an argument that is a whole number, given in the document or as a variable. */
  function wholeNumber(node: FieldNode, name: string): number | undefined {
    let value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.VARIABLE) {
      const given = Object.hasOwn(variables, value.name.value) ? variables[value.name.value] : undefined;
      // A variable that does not fit is refused before the operation runs.
      if (given !== undefined) return Number.isInteger(given) ? (given as number) : undefined;
      value = defaults.get(value.name.value);
    }
    return value?.kind === Kind.INT ? Number(value.value) : undefined;
  }

  /** How often the selection of a field counts: for each item of a list. */
  function multiplierOf(field: GraphQLField<unknown, unknown>, { items, lists }: Surroundings): number {
    const { cost } = field.extensions as CostExtensions;
    if (!isListType(getNullableType(field.type))) return cost?.multiplier ?? 1;
    if (isIntrospectionType(getNamedType(field.type))) {
      return lists > freeIntrospectionLists ? introspectionListItems : 1;
    }
    return cost?.multiplier ?? items;
  }

  function ofField(node: FieldNode, field: GraphQLField<unknown, unknown>, around: Surroundings): number {
    const { cost, pageSize } = field.extensions as CostExtensions;
    const own = cost?.field ?? 1;
    if (!node.selectionSet) return own;
    const isList = isListType(getNullableType(field.type));
    const rows = plan.rowCharges.find((charge) => charge.field === node)?.rows;
    const within = {
      lists: isList ? around.lists + 1 : around.lists,
      items: rows ? rowsOf(rows, variables) : 1,
    };
    if (pageSize !== undefined) {
      const items = wholeNumber(node, 'first') ?? wholeNumber(node, 'last') ?? pageSize;
      return own + ofSelections(node.selectionSet, getNamedType(field.type), { ...within, items });
    }
    const multiplier = Math.max(0, multiplierOf(field, { ...around, lists: within.lists }));
    const items = rows ? within.items : around.items;
    const times = cost?.wholeReads
      ? { plain: Math.min(multiplier, items), reads: Math.max(multiplier, items) }
      : { plain: multiplier, reads: multiplier };
    return own + ofSelections(node.selectionSet, getNamedType(field.type), within, times);
  }

  function ofSelections(
    { selections }: SelectionSetNode,
    type: unknown,
    around: Surroundings,
    times = { plain: 1, reads: 1 },
  ): number {
    if (!isObjectType(type)) return 0; // the graph has no interfaces and no unions
    const fields = type.getFields();
    let total = 0;
    for (const node of selections) {
      if (node.kind === Kind.FIELD) {
        const field = fields[node.name.value] ?? metaFields[node.name.value];
        if (!field) continue;
        if (node.selectionSet && !reads(field)) {
          const own = (field.extensions as CostExtensions).cost?.field ?? 1;
          total +=
            own * times.plain + ofSelections(node.selectionSet, getNamedType(field.type), around, times);
        } else {
          total += ofField(node, field, around) * (reads(field) ? times.reads : times.plain);
        }
      } else {
        const part = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        if (part) total += ofSelections(part.selectionSet, type, around, times);
      }
    }
    return total;
  }

  const cost = ofSelections(operation.selectionSet, schema.getRootType(operation.operation), {
    items: 1,
    lists: 0,
  });
  if (!plan.hasVariableCost) fixedCosts.set(plan, cost);
  return cost;
}

/** What an operation costs, known before it runs. */
export interface OperationCost {
  /** What its fields cost together. */
  requested: number;
  /** The points that the request is charged. */
  points: number;
}

/**
 * What an operation costs, with the page sizes and rows that its variables ask for (decisions, "what a request costs").
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when it costs more than one request may
 */
export function affordableCost(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Variables,
): OperationCost {
  const changes = plan.operation.operation === 'mutation' ? plan.rootFields.length : 1;
  if (changes > maxRootMutationFields) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `A request may have at most ${maxRootMutationFields} root mutation fields`,
    );
  }
  const requested = costOf(schema, plan, variables);
  if (requested > maxCost) {
    throw new ServiceError(
      'VALIDATION_ERROR',
      `Operation costs ${requested}; at most ${maxCost} are allowed. Ask for smaller pages.`,
    );
  }
  const furtherPoints = plan.rowCharges.map(
    ({ rows, rowsPerPoint }) => startedParts(rowsOf(rows, variables), rowsPerPoint) - 1,
  );
  return {
    requested,
    points:
      Math.max(changes, 1) +
      startedParts(requested, costPerPoint) -
      1 +
      furtherPoints.reduce((total, points) => total + points, 0),
  };
}

/** How many parts of a size an amount starts, at least one. */
const startedParts = (amount: number, size: number) => Math.max(1, Math.ceil(amount / size));

function rowsOf(rows: ValueNode, variables: Variables): number {
  if (rows.kind === Kind.LIST) return rows.values.length;
  const name = rows.kind === Kind.VARIABLE ? rows.name.value : '';
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return Array.isArray(value) ? value.length : 1;
}

/**
 * Counts the values in the variables, those in lists and objects included.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` for more than the limits, before counting costs much
 */
export function countValues(value: unknown, levels = maxVariableDepth, counted = 0): number {
  if (levels < 0) {
    throw new ServiceError('VALIDATION_ERROR', `Variables are nested more than ${maxVariableDepth} levels`);
  }
  if (counted >= maxVariableValues) {
    throw new ServiceError('VALIDATION_ERROR', `Variables hold more than ${maxVariableValues} values`);
  }
  let total = counted + 1;
  if (typeof value !== 'object' || value === null) return total;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    total = countValues(item, levels - 1, total);
  }
  return total;
}
