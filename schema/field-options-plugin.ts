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
      /** What a key must be allowed to do to select the field. */
      permission?: Permission;
      /** The codes that the field may answer with, beyond those that follow from its permission and arguments. */
      errors?: readonly ErrorCode[];
      /** What the field costs (decisions, "what a request costs"); 1 when left out. */
      complexity?: number | FieldCost;
      /** For a root field that takes a list of rows: how many of them one point pays for. */
      rowsPerPoint?: number;
    }
  }
  /* eslint-enable */
}

/** What a field costs: itself, and how often its selection is counted, where a list has no page size. */
interface FieldCost {
  field: number;
  multiplier: number;
  /**
   * Whether what reads the database within counts for each item of the page, or for each row of the call, however little
   * the plain fields count. Those never count for more items than there are.
   */
  wholeReads?: boolean;
  /**
   * Whether the field reads the database for its item. When left out, objects do, and other fields do not. What is in an
   * object that does not counts as if it stood in its place.
   */
  reads?: boolean;
  /** Whether a query with the field takes turns with others however little it costs: the field may read many rows. */
  takesTurns?: boolean;
  /** For a field with pages whose items count by `multiplier`: how many a page has when the client does not say it. */
  pageSize?: number;
}

/**
 * Carries the options of a field into the schema, where src/graphql/ finds them. An operation is refused before any
 * of it runs when the key lacks the permission of any field that it selects, and charged for what its fields cost;
 * the API reference of REST names the errors. A field with an argument `first` gives pages, each item of which counts,
 * unless the field says itself what it costs.
 *
 * Root fields of queries and mutations become nullable, so that an error of one leaves the data of the others. Their
 * resolvers cannot return null: it always comes with an error (decisions, "nullability of root fields").
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
