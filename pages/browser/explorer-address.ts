/**
 * The maximum length, in characters, of a URL that opens an operation in the explorer. The URL has a maximum length,
 * because some servers and proxies reject very long URLs.
 */
const maxAddressCharacters = 6000;

/** A GraphQL operation, with its variables as JSON text. */
interface LinkedOperation {
  query: string;
  variables: string;
}

/** Returns the URL that opens an operation in the explorer, or `undefined` if the URL would be too long. */
export function explorerAddress(path: string, { query, variables }: LinkedOperation): string | undefined {
  const parameters = new URLSearchParams({ query, ...(variables && { variables }) });
  const address = `${path}?${parameters}`;
  return address.length <= maxAddressCharacters ? address : undefined;
}
