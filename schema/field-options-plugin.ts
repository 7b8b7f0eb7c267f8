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
  // TypeScript merges the interfaces below with Pothos interfaces, so both must have the same names and type
  // parameters.
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
      /** The cost of the field (docs/contract.md#cost-of-a-request); the default is 1. */
      complexity?: number | FieldCost;
      /**
       * The number of rows that cost one rate limit point. The option is for a root field whose argument is a list of
       * rows.
       */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/**
 * The cost of a field. The number `field` is the cost of this field without its selected fields. For a field without
 * a page size, the gateway multiplies the cost of the selected fields by `multiplier`.
 */
interface FieldCost {
  field: number;
  /** Computes the cost of the field from its arguments. The result replaces the constant `field`. */
  fieldOf?: (values: Readonly<Record<string, unknown>>) => number;
  multiplier: number;
  /**
   * With `wholeReads`, the gateway multiplies the cost of a subfield by the number of items of the page, or by the
   * number of rows in the request. For a subfield that does not read the database, this factor is at most `multiplier`.
   */
  wholeReads?: boolean;
  /**
   * Whether the field reads the database for each of its items. If `reads` is omitted, the field counts as a read of
   * the database only if it returns an object. If a field returns an object without a database read, the fields of this
   * object cost as much as fields of the parent object.
   */
  reads?: boolean;
  /**
   * Whether a query with this field always waits for a slot of the concurrency limit, even if its cost is low. Set the
   * option `isHeavy` for a field that has a low cost but can read many rows.
   */
  isHeavy?: boolean;
  /**
   * Returns the maximum number of items of a list, if the number depends on the arguments. The number replaces
   * `multiplier`.
   */
  itemsOf?: (values: Readonly<Record<string, unknown>>) => number;
  /** The default page size. The option is for a field that returns pages and defines its own cost. */
  pageSize?: number;
}

/**
 * A plugin that copies the options of a field into the GraphQL schema, where the code in src/graphql/ reads the
 * options. An operation is rejected before execution if the API key lacks the permission for one of its fields. From
 * the costs of the fields, the gateway computes how many rate limit points an operation costs. The REST reference lists
 * the error codes of the fields that an endpoint uses. If a field with the argument `first` does not define its own
 * cost, its cost depends on the page size.
 *
 * The plugin also makes the root fields of queries and mutations nullable. If the root fields were not nullable, an
 * error in one root field would remove the data of all root fields. A root field is null only when it has an error,
 * because its resolver never returns null (docs/contract.md#nullability-of-root-fields).
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
