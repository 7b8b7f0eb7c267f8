import {
  type FieldNode,
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
  valueFromASTUntyped,
} from 'graphql';
import { ServiceError } from '../errors/error-table.ts';
import { optionsOf } from './field-options.ts';
import { fragmentsOf } from './fragments.ts';
import { costPerPoint, maxCost, maxRootMutationFields } from './limits.ts';
import { type OperationPlan, sentValue, type Variables } from './operation-plan.ts';

/**
 * Describes the lists around a GraphQL selection: the number of items, and the depth of the nested lists.
 */
interface Surroundings {
  /**
   * The size of the page that contains the GraphQL selection, or the number of rows in the list that contains the
   * selection. If the GraphQL selection is neither in a page nor in a list of rows, `items` is 1.
   */
  items: number;
  /** The number of lists in which the GraphQL selection is nested. */
  lists: number;
}

/** Caches the cost of each operation whose cost does not depend on variables. */
const fixedCosts = new WeakMap<OperationPlan, number>();

/** Whether the gateway counts a field as a database read when it computes the cost of an operation. */
const reads = (field: GraphQLField<unknown, unknown>) =>
  optionsOf(field).cost?.reads ?? isObjectType(getNamedType(field.type));

const metaFields: Record<string, GraphQLField<unknown, unknown>> = {
  __typename: TypeNameMetaFieldDef,
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

/**
 * How many levels of nested lists an introspection query may have without a higher cost. `freeIntrospectionLists` is
 * the number of levels of nested lists in the introspection query of GraphiQL. If a field is nested in more than
 * `freeIntrospectionLists` lists, its cost is multiplied by `introspectionListItems`.
 */
const freeIntrospectionLists = 3;
const introspectionListItems = 10;

/**
 * Adds up the costs of all fields of an operation. If an operation uses a fragment several times, the fields of the
 * fragment count each time.
 */
function costOf(schema: GraphQLSchema, plan: OperationPlan, variables: Variables): number {
  const known = fixedCosts.get(plan);
  if (known !== undefined) return known;
  const { operation, document } = plan;
  const fragments = fragmentsOf(document);
  const defaults = new Map(
    operation.variableDefinitions?.map((node) => [node.variable.name.value, node.defaultValue] as const),
  );

  /** Returns the integer value of an argument, which the client can write in the document or send as a variable. */
  function wholeNumber(node: FieldNode, name: string): number | undefined {
    let value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.VARIABLE) {
      const given = sentValue(variables, value.name.value);
      // A variable with a wrong type does not influence the cost, because the gateway rejects a request with such a
      // variable before the operation runs.
      if (given !== undefined) return Number.isInteger(given) ? (given as number) : undefined;
      value = defaults.get(value.name.value);
    }
    return value?.kind === Kind.INT ? Number(value.value) : undefined;
  }

  /**
   * Returns the values of a field's arguments before the gateway converts these values (coercion). The values come from
   * the document, the variables and the defaults.
   */
  function argumentValues(node: FieldNode, field: GraphQLField<unknown, unknown>): Variables {
    const valueOf = (value: ValueNode | undefined): unknown => {
      if (value?.kind !== Kind.VARIABLE) return value && valueFromASTUntyped(value);
      const { value: name } = value.name;
      return Object.hasOwn(variables, name) ? variables[name] : valueOf(defaults.get(name));
    };
    return Object.fromEntries(
      field.args.map(({ name, defaultValue }) => {
        const given = node.arguments?.find((argument) => argument.name.value === name)?.value;
        return [name, valueOf(given) ?? defaultValue];
      }),
    );
  }

  /** Returns the cost of a field without the costs of the fields in its selection. */
  function ownCost(node: FieldNode, field: GraphQLField<unknown, unknown>): number {
    const own = optionsOf(field).cost?.field ?? 1;
    return typeof own === 'function' ? own(argumentValues(node, field)) : own;
  }

  /**
   * Returns the multiplier of a field: the gateway multiplies the costs of the field's subfields by this number. By
   * default, the multiplier is 1 for a field that returns no list. For a field that returns a list, the default is
   * `items`, the size of the page or list of rows around the field.
   */
  function multiplierOf(
    node: FieldNode,
    field: GraphQLField<unknown, unknown>,
    { items, lists }: Surroundings,
  ): number {
    const multiplier = optionsOf(field).cost?.multiplier;
    if (typeof multiplier === 'function') return multiplier(argumentValues(node, field));
    if (!isListType(getNullableType(field.type))) return multiplier ?? 1;
    if (isIntrospectionType(getNamedType(field.type))) {
      return lists > freeIntrospectionLists ? introspectionListItems : 1;
    }
    return multiplier ?? items;
  }

  function ofField(node: FieldNode, field: GraphQLField<unknown, unknown>, around: Surroundings): number {
    const { cost } = optionsOf(field);
    const own = ownCost(node, field);
    if (!node.selectionSet) return own;
    const isList = isListType(getNullableType(field.type));
    const rows = plan.rowCharges.find((charge) => charge.field === node)?.rows;
    const within = {
      lists: isList ? around.lists + 1 : around.lists,
      items: rows ? rowsOf(rows, variables) : 1,
    };
    const pageSize = cost?.pageSize;
    if (pageSize !== undefined) {
      // The gateway rejects a request with an invalid page size only after it has computed the cost of the request. A
      // negative page size must not reduce the cost. If the page size is too large, the client must get the error about
      // the page size, and not an error about the cost.
      const asked = wholeNumber(node, 'first') ?? wholeNumber(node, 'last') ?? pageSize.usual;
      const items = Math.min(pageSize.max, Math.max(0, asked));
      return own + ofSelections(node.selectionSet, getNamedType(field.type), { ...within, items });
    }
    const multiplier = Math.max(0, multiplierOf(node, field, { ...around, lists: within.lists }));
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
    // The GraphQL schema has no interfaces and no unions, so only an object type has fields.
    if (!isObjectType(type)) return 0;
    const fields = type.getFields();
    let total = 0;
    for (const node of selections) {
      if (node.kind === Kind.FIELD) {
        const field = fields[node.name.value] ?? metaFields[node.name.value];
        if (!field) continue;
        if (node.selectionSet && !reads(field)) {
          const own = ownCost(node, field);
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

/** The cost of an operation, which the gateway computes before it runs the operation. */
export interface OperationCost {
  /** The sum of the costs of all fields of the operation. */
  requested: number;
  /** The number of rate limit points that the request costs. */
  points: number;
}

/**
 * Computes the cost of an operation. The cost depends on the page sizes and the numbers of rows that the client
 * requests or sends (docs/contract-keys.md#cost-of-a-request).
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the operation exceeds the cost limit of one request
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
      `The operation has a cost of ${requested}; the maximum cost is ${maxCost}. Ask for smaller pages.`,
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

/** Returns `amount / size`, rounded up, but at least 1. */
const startedParts = (amount: number, size: number) => Math.max(1, Math.ceil(amount / size));

function rowsOf(rows: ValueNode, variables: Variables): number {
  if (rows.kind === Kind.LIST) return rows.values.length;
  const value = rows.kind === Kind.VARIABLE ? sentValue(variables, rows.name.value) : undefined;
  return Array.isArray(value) ? value.length : 1;
}
