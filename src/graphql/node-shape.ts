import { type DocumentNode, type FieldNode, getOperationAST, Kind, type SelectionSetNode } from 'graphql';
import type { JsonShape } from '../pages.ts';

/**
 * What the operation of a document shows of the items of its connection: plain fields, which have the names of the
 * columns behind them, in the order of the answer.
 *
 * @throws {TypeError} for a field with arguments or with a selection of its own
 */
export function nodeShape(document: DocumentNode): JsonShape {
  /** The fields of a selection, those of its fragments in their place. */
  const fieldsIn = (set: SelectionSetNode | undefined): FieldNode[] =>
    (set?.selections ?? []).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet);
      const spread = document.definitions.find(
        (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value,
      );
      return spread && 'selectionSet' in spread ? fieldsIn(spread.selectionSet) : [];
    });

  const [connection] = fieldsIn(getOperationAST(document)?.selectionSet);
  const nodes = fieldsIn(connection?.selectionSet).find(({ name }) => name.value === 'nodes');
  return fieldsIn(nodes?.selectionSet).map(({ alias, name, arguments: given = [], selectionSet }) => {
    if (given.length > 0 || selectionSet) throw new TypeError(`${name.value} is no plain field of a node`);
    return { name: (alias ?? name).value, column: name.value };
  });
}
