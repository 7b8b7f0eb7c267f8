import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { Permission } from '../prisma/generated/client/enums.ts';
import type { ErrorCode } from '../src/errors/error-table.ts';
import { defaultPageSize } from './pagination.ts';

const pluginName = 'fieldOptions';

declare global {
  // TypeScript merges these interfaces with the interfaces of Pothos, so their names and type parameters must be equal.
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
      /** The permission that an API key needs to select the field. */
      permission?: Permission;
      /**
       * The error codes that the field may return. The codes of its permission and its arguments are added
       * automatically.
       */
      errors?: readonly ErrorCode[];
      /** The cost of the field (docs/contract.md#cost-of-a-request); the default is 1. */
      complexity?: number | FieldCost;
      /** For a root field that takes a list of rows: how many rows one rate limit point covers. */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/**
 * The cost of a field. It consists of the cost of the field itself and, for a list without a page size, the multiplier
 * for the fields in its selection.
 */
interface FieldCost {
  field: number;
  /** Computes the cost of the field from its arguments. The result is used instead of `field`. */
  fieldOf?: (values: Readonly<Record<string, unknown>>) => number;
  multiplier: number;
  /**
   * Whether each field in the selection that reads the database counts for every item of the page or every row of the
   * request. Other fields may count for fewer items, but never for more items than the list has.
   */
  wholeReads?: boolean;
  /**
   * Whether the field reads the database for each of its items. The default is true for objects and false for other
   * fields. The fields of an object that reads nothing count as if they belonged to the parent object.
   */
  reads?: boolean;
  /**
   * Whether a query with this field always waits for a slot. This is needed if the field can read many rows at a low
   * cost.
   */
  isHeavy?: boolean;
  /**
   * Returns the maximum number of items of a list whose length depends on the arguments. The result is used instead of
   * `multiplier`.
   */
  itemsOf?: (values: Readonly<Record<string, unknown>>) => number;
  /** The default page size of a field that returns pages whose items count by `multiplier`. */
  pageSize?: number;
}

/**
 * A plugin that copies the options of a field into the schema, where src/graphql/ reads them. An operation is rejected
 * before execution if the API key lacks the permission for one of its fields. The rate limit points of an operation
 * depend on the costs of its fields, and the REST reference lists the errors. If a field has the argument `first`, it
 * returns pages, and each item of the page counts unless the field defines its own cost.
 *
 * The plugin also makes the root fields of queries and mutations nullable, so that an error in one field does not
 * remove the data of the other fields. A resolver cannot return null; null always comes with an error
 * (docs/contract.md#nullability-of-root-fields).
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
}

SchemaBuilder.registerPlugin(pluginName, FieldOptionsPlugin);

export default pluginName;
