/** @jsxImportSource react */
import { stringifyDocument } from 'urql';
import type { ShownOperation } from '../graph/use-view.ts';
import { explorerAddress } from '../../browser/explorer-address.ts';
import { graphPath } from '../../browser/post.ts';
import { texts } from '../texts.ts';

/**
 * Returns the URL that opens an operation in the explorer. If the URL would be too long with the variables of the
 * operation, the function omits the variables. If the URL would be too long even without the variables, the function
 * omits the operation, too.
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
