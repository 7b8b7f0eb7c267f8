/**
 * The maximum length of an address that opens an operation in the explorer, in characters. Servers and proxies reject
 * longer addresses.
 */
const maxAddressCharacters = 6000;

/** An operation, with its variables as JSON. */
interface LinkedOperation {
  query: string;
  variables: string;
}

/**
 * Returns the address that opens an operation in the explorer. The result is undefined when the address would be too
 * long.
 */
export function explorerAddress(path: string, { query, variables }: LinkedOperation): string | undefined {
  const parameters = new URLSearchParams({ query, ...(variables && { variables }) });
  const address = `${path}?${parameters}`;
  return address.length <= maxAddressCharacters ? address : undefined;
}
