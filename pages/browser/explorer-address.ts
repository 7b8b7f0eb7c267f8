/** The longest address that the explorer and the console make, in characters: servers and proxies refuse longer ones. */
const maxAddressCharacters = 6000;

/** An operation and its variables as JSON. */
interface LinkedOperation {
  query: string;
  variables: string;
}

/** The address of the explorer with an operation in it; undefined when it would be too long. */
export function explorerAddress(path: string, { query, variables }: LinkedOperation): string | undefined {
  const parameters = new URLSearchParams({ query, ...(variables && { variables }) });
  const address = `${path}?${parameters}`;
  return address.length <= maxAddressCharacters ? address : undefined;
}
