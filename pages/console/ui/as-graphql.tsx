/** @jsxImportSource react */
import { stringifyDocument } from 'urql';
import type { ShownOperation } from '../graph/use-view.ts';
import { explorerAddress } from '../../browser/explorer-address.ts';
import { graphPath } from '../../browser/post.ts';
import { texts } from '../texts.ts';

/**
 * Returns the address that opens an operation in the explorer. If the address with the variables of the operation would
 * be too long, the address does not contain these variables. If the address would be too long even without these
 * variables, the address does not contain the operation either.
 */
function addressOf({ document, variables }: ShownOperation): string {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const query = stringifyDocument(document).replace(/\s*__typename/g, '');
  return (
    explorerAddress(graphPath, { query, variables: JSON.stringify(given) }) ??
    explorerAddress(graphPath, { query, variables: '' }) ??
    graphPath
  );
}

/** A button that opens the GraphQL operation of a console view in the explorer. */
export function AsGraphql({ operation }: { operation: ShownOperation }) {
  return (
    <a
      className="button plain as-graphql"
      href={addressOf(operation)}
      target="_blank"
      rel="noopener"
      title={texts.state.asGraphqlAbout}
    >
      <span aria-hidden="true">{'{ }'}</span> {texts.state.asGraphql}
    </a>
  );
}
