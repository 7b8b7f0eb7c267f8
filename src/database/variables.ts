/**
 * The parameters of a database URL that the package pg uses. These parameters cannot override a setting that the
 * gateway needs, such as a time limit.
 */
const usedParameters: readonly string[] = [
  ...['host', 'port', 'user', 'password', 'application_name'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
];

/**
 * The parameters of a database URL that the package pg silently ignores. Hosting providers show database URLs with
 * these parameters, and so does the documentation of Prisma and of libpq. The gateway therefore accepts a database URL
 * with these parameters, and logs a warning.
 */
const ignoredParameters: readonly string[] = [
  ...['schema', 'connection_limit', 'pool_timeout', 'socket_timeout', 'pgbouncer', 'sslaccept'],
  ...['connect_timeout', 'channel_binding', 'target_session_attrs', 'gssencmode'],
];

const parametersOf = (url: string) => [...new URL(url).searchParams.keys()];

/**
 * The validation rule for the parameters of a database URL: a check of the URL, and the error message for a URL that
 * fails this check.
 */
export const databaseParameters = {
  isValid(url: string): boolean {
    if (!URL.canParse(url)) return true; // another rule reports the invalid URL
    return parametersOf(url).every(
      (name) => usedParameters.includes(name) || ignoredParameters.includes(name),
    );
  },
  message: `must have only these parameters after the question mark: ${usedParameters.join(', ')}`,
};

/**
 * If a database URL has parameters without effect, returns a warning about these parameters.
 *
 * @param name the name of the environment variable with the URL
 */
export function ignoredParameterWarnings(name: string, url: string | undefined): string[] {
  const ignored =
    url === undefined ? [] : parametersOf(url).filter((each) => ignoredParameters.includes(each));
  if (ignored.length === 0) return [];
  return [
    `${name} has parameters without effect: ${ignored.join(', ')}; docs/configuration.md names the replacements`,
  ];
}
