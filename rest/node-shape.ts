import { type DocumentNode, type FieldNode, getOperationAST, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../src/graphql/fragments.ts';
import type { JsonShape } from '../src/paging.ts';

/**
 * Returns the fields that a GraphQL document selects for each item of a list, in the order of the response. Each field
 * that the GraphQL document selects must have the name of a database column. A selected field must have no arguments
 * and no subfields.
 *
 * @throws {TypeError} when a selected field has arguments or subfields
 */
export function nodeShape(document: DocumentNode): JsonShape {
  const fragments = fragmentsOf(document);
  /** Returns all fields of a GraphQL selection set, including the fields of its fragments. */
  const fieldsIn = (set: SelectionSetNode | undefined): FieldNode[] =>
    (set?.selections ?? []).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet);
      return fieldsIn(fragments.get(selection.name.value)?.selectionSet);
    });

  const [connection] = fieldsIn(getOperationAST(document)?.selectionSet);
  const nodes = fieldsIn(connection?.selectionSet).find(({ name }) => name.value === 'nodes');
  return fieldsIn(nodes?.selectionSet).map(({ alias, name, arguments: given = [], selectionSet }) => {
    if (given.length > 0 || selectionSet) throw new TypeError(`${name.value} is not a plain field of a node`);
    return { name: (alias ?? name).value, column: name.value };
  });
}
