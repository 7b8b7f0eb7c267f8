import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { Permission } from '../prisma/generated/client/enums.ts';
import type { Context } from '../src/context.ts';
import type { ErrorCode } from '../src/errors/error-table.ts';
import { defaultPageSize } from './pagination.ts';

const pluginName = 'fieldOptions';

declare global {
  // TypeScript merges `Plugins` and `FieldOptions` with the Pothos interfaces of the same names. Merged interfaces must
  // have the same type parameters.
  /* eslint-disable @typescript-eslint/no-namespace, @typescript-eslint/no-unused-vars */
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      fieldOptions: FieldOptionsPlugin<Types>;
    }
    export interface FieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /** The permission that an API key must have to select the field. */
      permission?: Permission;
      /**
       * The error codes that the field may return. The error codes for a missing permission and for invalid arguments
       * are added automatically.
       */
      errors?: readonly ErrorCode[];
      /** The cost of the field (docs/contract-keys.md#cost-of-a-request); the default is 1. */
      complexity?: number | FieldCost;
      /** For a root field whose argument is a list of rows: the number of rows that cost one rate limit point. */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/**
 * The cost of a GraphQL field. `field` is the cost without the subfields that a client selects. If the field has a page
 * size, the gateway multiplies the costs of the selected subfields by the page size. If the field has no page size, the
 * gateway multiplies the costs of the subfields by `multiplier`.
 */
interface FieldCost {
  field: number;
  /**
   * Computes the cost of the field from its arguments. If `fieldOf` is given, the gateway ignores the constant `field`.
   */
  fieldOf?: (values: Readonly<Record<string, unknown>>) => number;
  multiplier: number;
  /**
   * With `wholeReads`, the gateway compares `multiplier` with the number of items on the page (or of rows in the
   * request). The gateway multiplies the cost of a subfield that reads the database by the larger number. The gateway
   * multiplies the cost of any other subfield by the smaller number.
   */
  wholeReads?: boolean;
  /**
   * Whether the gateway reads the database to resolve the field. If `reads` is omitted, only a field that returns
   * objects counts as a read. With `reads: false`, the field has no multiplier of its own: its subfields cost as much
   * as if the client selected them in the parent field.
   */
  reads?: boolean;
  /**
   * Whether a query with this field always waits for a slot of the concurrency limit, even if the query has a low cost.
   * Set `isHeavy` for a field that can read many rows although its cost is low.
   */
  isHeavy?: boolean;
  /**
   * Computes the maximum number of list items from the arguments of the field. If `itemsOf` is given, the gateway
   * ignores `multiplier`.
   */
  itemsOf?: (values: Readonly<Record<string, unknown>>) => number;
  /** The default page size of a field that returns pages. */
  pageSize?: number;
}

/**
 * A plugin that copies the options of a field into the GraphQL schema, where the code in src/graphql/ reads the
 * options. An operation is rejected before execution if the API key lacks the permission for one of its fields. From
 * the costs of the fields, the gateway computes how many rate limit points an operation costs. The REST reference lists
 * the error codes of the fields that an endpoint uses. A field with the argument `first` and without its own cost gets
 * a cost that depends on the page size.
 *
 * The plugin also makes the root fields of queries and mutations nullable. When a root field has an error, the other
 * nullable root fields keep their data. A root field is null only when it has an error, because its resolver never
 * returns null (docs/contract.md#nullability-of-root-fields).
 */
class FieldOptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(fieldConfig: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { permission, errors, complexity, rowsPerPoint } = fieldConfig.pothosOptions;
    const isPaged = 'first' in fieldConfig.args && complexity === undefined;
    const pageSize = isPaged
      ? defaultPageSize
      : typeof complexity === 'object'
        ? complexity.pageSize
        : undefined;
    const cost = typeof complexity === 'number' ? { field: complexity, multiplier: 1 } : complexity;
    const options = { permission, errors, cost, pageSize, rowsPerPoint };
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const extensions = { ...fieldConfig.extensions, ...Object.fromEntries(given) };
    const { kind, type } = fieldConfig;
    const isRootField = kind === 'Query' || kind === 'Mutation';
    return { ...fieldConfig, type: isRootField ? { ...type, nullable: true } : type, extensions };
  }

  /**
   * Checks the API key again before each root field of a mutation. The fields of a mutation run one after the other, so
   * the API key may have been revoked while an earlier field waited.
   */
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Mutation') return resolve;
    return async (parent, args, context, info) => {
      await (context as Pick<Context, 'reauthenticate'>).reauthenticate();
      return resolve(parent, args, context, info);
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, FieldOptionsPlugin);

export default pluginName;
