import { exitCode, Failure } from './failure.ts';

/**
 * Checks the address of the gateway that a user has given.
 *
 * @throws {Failure} when the address is not the URL of a gateway. The error message never contains the part of the
 *   address before the last `@`, because this part may contain a password
 */
export function requireGatewayUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    // the part of the URL before the character @ may contain a password
    throw new Failure(`Not the URL of a gateway: ${url.replace(/.*@/s, '…@')}`, exitCode.usage);
  }
  const { search, hash } = new URL(url);
  if (search || hash) {
    throw new Failure(
      'The URL of a gateway must have no query (?) and no fragment (#): correct --url or PMS_URL',
      exitCode.usage,
    );
  }
}

/**
 * Returns the URL of a request to the gateway. The address of the gateway may have a path, such as
 * `https://example.com/parking`, because a proxy may serve the gateway under this path. Users may also give the URL of
 * the GraphQL endpoint, so the function ignores `/graphql` at the end of the gateway's address.
 *
 * @param gateway the address of the gateway
 * @param path the path and query of the request, such as `/graphql`, relative to the address of the gateway
 */
export function requestUrl(gateway: string, path: string): URL {
  const address = new URL(gateway);
  // `new URL` resolves each `..` in the path of the request. The URL therefore always keeps the path of the gateway's
  // address.
  const { pathname, search } = new URL(path, address.origin);
  address.pathname = address.pathname.replace(/\/*(\/graphql)?\/*$/, '') + pathname;
  address.search = search;
  return address;
}
