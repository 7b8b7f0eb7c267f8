/**
 * The maximum length, in characters, of an address that opens an operation in the explorer. The address has a maximum
 * length, because some servers and proxies reject very long addresses.
 */
const maxAddressCharacters = 6000;

/** A GraphQL operation, with its variables as JSON text. */
interface LinkedOperation {
  query: string;
  variables: string;
}

/** Returns the address that opens an operation in the explorer, or `undefined` if the address would be too long. */
export function explorerAddress(path: string, { query, variables }: LinkedOperation): string | undefined {
  const parameters = new URLSearchParams({ query, ...(variables && { variables }) });
  const address = `${path}?${parameters}`;
  return address.length <= maxAddressCharacters ? address : undefined;
}
