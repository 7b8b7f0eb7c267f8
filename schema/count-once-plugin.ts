import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { isCountable } from './pagination.ts';

const pluginName = 'countOnce';

declare global {
  // The name and parameter repeat those that Pothos declares, as merging interfaces must.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      countOnce: CountOncePlugin<Types>;
    }
  }
}

/** The counts of each request that reads. */
const countsOf = new WeakMap<object, Map<string, Promise<number>>>();

/**
 * Counts a list once in a request, however often its `totalCount` is selected under aliases: to count reads the whole
 * list. Requests that change something count anew each time.
 */
class CountOncePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { args: declared, parentType, name }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (!('first' in declared)) return resolver;
    return async (parent, args, context, info) => {
      const connection = await resolver(parent, args, context, info);
      const id = parent === undefined || parent === null ? '' : (parent as { id?: unknown }).id;
      if (!isCountable(connection) || info.operation.operation !== 'query' || id === undefined)
        return connection;
      const filter = { ...args, first: null, last: null, after: null, before: null };
      const list = JSON.stringify([parentType, name, id, filter]);
      const counts = countsOf.get(context) ?? new Map<string, Promise<number>>();
      countsOf.set(context, counts);
      return {
        ...connection,
        totalCount() {
          const count = counts.get(list) ?? connection.totalCount();
          counts.set(list, count);
          return count;
        },
      };
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, CountOncePlugin);

export default pluginName;
