import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { isCountable } from './pagination.ts';

const pluginName = 'countOnce';

declare global {
  // TypeScript merges `Plugins` with the Pothos interface of the same name, and requires the same type parameter in
  // both interfaces.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      countOnce: CountOncePlugin<Types>;
    }
  }
}

/** For each GraphQL request, maps the name of a database query to the result of this query. */
const answersOf = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Calls `ask`, which reads the database, and returns the result of `ask`. If the same request calls `once` again with
 * the same name, `once` returns the first result and does not read the database again.
 */
function once<Answer>(request: object, name: string, ask: () => Promise<Answer>): Promise<Answer> {
  const answers = answersOf.get(request) ?? new Map<string, Promise<unknown>>();
  answersOf.set(request, answers);
  const answer = (answers.get(name) as Promise<Answer> | undefined) ?? ask();
  answers.set(name, answer);
  return answer;
}

/**
 * A Pothos plugin that counts the items of each list at most once per request, because PostgreSQL must read the whole
 * list to count them. Without this Pothos plugin, a client could select the same list under many aliases, and the
 * gateway would count the list for each alias. If a client selects a page several times with equal arguments, the
 * gateway reads the page only once. In a mutation, the data can change between two selections of the same list, so the
 * gateway reads and counts the list again for each selection.
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
