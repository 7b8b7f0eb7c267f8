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
      /** For a root field that takes a list of rows: the number of rows for one point. */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/** The cost of a field: its own cost, and the multiplier of its selection for a list without a page size. */
interface FieldCost {
  field: number;
  /** Computes the cost of the field from its arguments. It replaces `field`. */
  fieldOf?: (values: Readonly<Record<string, unknown>>) => number;
  multiplier: number;
  /**
   * Whether each database read below counts for every item of the page or every row of the call, even when plain fields
   * count less. Plain fields never count for more items than there are.
   */
  wholeReads?: boolean;
  /**
   * Whether the field reads the database for its item. Default: true for objects, false for other fields. Fields below
   * an object that reads nothing cost as much as fields beside it.
   */
  reads?: boolean;
  /**
   * Whether a query with this field always waits for a slot, even at a low cost, because the field may read many rows.
   */
  isHeavy?: boolean;
  /** For a list whose length depends on the arguments: its maximum number of items. It replaces `multiplier`. */
  itemsOf?: (values: Readonly<Record<string, unknown>>) => number;
  /** For a field with pages whose items count by `multiplier`: the default page size. */
  pageSize?: number;
}

/**
 * Copies the options of a field into the schema, where src/graphql/ reads them. An operation is rejected before
 * execution when the key lacks the permission of a selected field. The costs of the fields decide its points, and the
 * REST reference names the errors. A field with the argument `first` returns pages, and each item counts, unless the
 * field defines its own cost.
 *
 * Root fields of queries and mutations become nullable, so that an error in one field leaves the data of the others. A
 * resolver cannot return null: null always comes with an error (docs/contract.md#nullability-of-root-fields).
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
