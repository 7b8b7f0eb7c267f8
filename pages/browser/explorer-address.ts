/**
 * The maximum length of an address that the explorer or the console creates, in characters. Servers and proxies reject
 * longer addresses.
 */
const maxAddressCharacters = 6000;

/** An operation and its variables as JSON. */
interface LinkedOperation {
  query: string;
  variables: string;
}

/**
 * Returns the address of the explorer with an operation in it. The result is undefined when the address would be too
 * long.
 */
export function explorerAddress(path: string, { query, variables }: LinkedOperation): string | undefined {
  const parameters = new URLSearchParams({ query, ...(variables && { variables }) });
  const address = `${path}?${parameters}`;
  return address.length <= maxAddressCharacters ? address : undefined;
}
