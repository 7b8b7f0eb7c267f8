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
  // The names and parameters repeat those that Pothos declares, as merging interfaces must.
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
      /** The permission that a key needs to select the field. */
      permission?: Permission;
      /** The error codes that the field may return, besides the codes of its permission and arguments. */
      errors?: readonly ErrorCode[];
      /** The cost of the field (docs/contract.md#cost-of-a-request). Default: 1. */
      complexity?: number | FieldCost;
      /** The number of rows that one rate limit point pays for, for a root field that takes a list of rows. */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/**
 * The cost of a field: its own cost, and the multiplier of its selection if the field is a list without a page size.
 */
interface FieldCost {
  field: number;
  /** Computes the cost of the field from its arguments. The result replaces `field`. */
  fieldOf?: (values: Readonly<Record<string, unknown>>) => number;
  multiplier: number;
  /**
   * Whether each database read in the selection counts for every item of the page, or for every row of the call, even
   * when plain fields count less. Plain fields never count for more items than the list has.
   */
  wholeReads?: boolean;
  /**
   * Whether the field reads the database for its item. By default, this is true for objects and false for other fields.
   * Fields inside an object that reads nothing cost as much as fields of the parent object.
   */
  reads?: boolean;
  /**
   * Whether a query with this field always waits for a slot, even at a low cost, because the field may read many rows.
   */
  isHeavy?: boolean;
  /**
   * Returns the maximum number of items of a list whose length depends on the arguments. The result replaces
   * `multiplier`.
   */
  itemsOf?: (values: Readonly<Record<string, unknown>>) => number;
  /** The default page size of a field with pages whose items count by `multiplier`. */
  pageSize?: number;
}

/**
 * Copies the options of a field into the schema, where src/graphql/ reads them. An operation is rejected before
 * execution when the key lacks the permission for a selected field. The costs of the fields determine the rate limit
 * points of the operation, and the REST reference lists the errors. A field with the argument `first` returns pages,
 * and each item counts, unless the field defines its own cost.
 * Root fields of queries and mutations become nullable, so that an error in one field does not remove the data of the
 * other fields. A resolver cannot return null. null always comes with an error
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
