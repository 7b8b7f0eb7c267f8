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

/** For each request, the results that it has so far, by the name of the read. */
const answersOf = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs a read only once in a request. A second read with the same name gets the same result. */
function once<Answer>(request: object, name: string, ask: () => Promise<Answer>): Promise<Answer> {
  const answers = answersOf.get(request) ?? new Map<string, Promise<unknown>>();
  answersOf.set(request, answers);
  const answer = (answers.get(name) as Promise<Answer> | undefined) ?? ask();
  answers.set(name, answer);
  return answer;
}

/**
 * Counts a list only once in a request, because counting reads the whole list. This also holds when `totalCount` is
 * selected several times under aliases. Equal pages under several aliases are also read once. Mutations read and count
 * each time.
 */
class CountOncePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { args: declared, parentType, name }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (!('first' in declared)) return resolver;
    return async (parent, args, context, info) => {
      const resolve = async () => resolver(parent, args, context, info);
      const id = parent === undefined || parent === null ? '' : (parent as { id?: unknown }).id;
      if (info.operation.operation !== 'query' || id === undefined) return resolve();
      const nameOf = (values: object) => JSON.stringify([parentType, name, id, values]);
      const connection = await once(context, nameOf({ page: args }), resolve);
      if (!isCountable(connection)) return connection;
      const filter = { ...args, first: null, last: null, after: null, before: null };
      return {
        ...connection,
        totalCount: () => once(context, nameOf({ count: filter }), () => connection.totalCount()),
      };
    };
  }
}

SchemaBuilder.registerPlugin(pluginName, CountOncePlugin);

export default pluginName;
