import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import type { Context } from '../src/context.ts';
import type { FieldCost, FieldOptions as StoredOptions } from '../src/graphql/field-options.ts';
import { pageSizes } from './pagination.ts';

const pluginName = 'fieldOptions';

declare global {
  // Pothos also declares interfaces with the names `Plugins` and `FieldOptions`, and TypeScript merges interfaces that
  // have the same name. All declarations of a merged interface must have the same type parameters.
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
    > extends Pick<StoredOptions, 'permission' | 'errors' | 'rowsPerPoint'> {
      /** The cost of the field in a GraphQL operation (docs/contract-keys.md#cost-of-a-request); the default is 1. */
      complexity?: number | FieldCost;
    }
  }
  /* eslint-enable */
}

/**
 * A Pothos plugin that copies the options of each field into the GraphQL schema. The code in src/graphql/ reads these
 * options from the schema. The gateway rejects an operation before execution if the API key lacks the permission for
 * one of the fields in the operation. From the costs of the fields, the gateway computes how many rate limit points an
 * operation costs. The options of a field can contain a list of the error codes that the field may return. The
 * REST reference shows, for each endpoint, the error codes of the GraphQL fields that the endpoint uses. If a field has
 * the argument `first` but no cost of its own, the cost of the field depends on the page size.
 *
 * The plugin also makes the root fields of queries and mutations nullable in the schema. When a root field has an
 * error, the other nullable root fields keep their data. A root field is null only when it has an error, because its
 * resolver never returns null (docs/contract.md#nullability-of-root-fields).
 */
class FieldOptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(fieldConfig: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { permission, errors, complexity, rowsPerPoint } = fieldConfig.pothosOptions;
    const isPaged = 'first' in fieldConfig.args;
    const usual = isPaged ? { field: 1, multiplier: 1, pageSize: pageSizes } : undefined;
    const cost =
      typeof complexity === 'number' ? { field: complexity, multiplier: 1 } : (complexity ?? usual);
    const options: StoredOptions = { permission, errors, cost, rowsPerPoint };
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const extensions = { ...fieldConfig.extensions, ...Object.fromEntries(given) };
    const { kind, type } = fieldConfig;
    const isRootField = kind === 'Query' || kind === 'Mutation';
    return { ...fieldConfig, type: isRootField ? { ...type, nullable: true } : type, extensions };
  }

  /**
   * Checks the API key again before each root field of a mutation. The root fields of a mutation run one after the
   * other. The API key may have been revoked while an earlier root field of the mutation was running. The scope can
   * also grow: an earlier root field may have added a company to the scope of the API key. The resolver therefore gets
   * the scope that the API key has now.
   */
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Mutation') return resolve;
    return async (parent, args, context, info) => {
      const { key, reauthenticate } = context as Pick<Context, 'key' | 'reauthenticate'>;
      const current = await reauthenticate();
      return resolve(parent, args, current === key ? context : { ...context, key: current }, info);
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, FieldOptionsPlugin);

export default pluginName;
