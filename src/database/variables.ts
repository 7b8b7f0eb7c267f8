/**
 * The parameters that a database URL may have. The package pg uses each of these parameters, and none of them replaces
 * a time limit or another setting that the gateway depends on. The package pg silently ignores most other parameters,
 * such as Prisma's parameter `schema`.
 */
export const databaseUrlParameters: readonly string[] = [
  ...['application_name', 'host', 'sslcert', 'sslkey', 'sslmode', 'sslnegotiation', 'sslrootcert'],
  'uselibpqcompat',
];

/** Whether a database URL has only parameters in `databaseUrlParameters`. */
export function hasKnownParameters(url: string): boolean {
  if (!URL.canParse(url)) return true; // another rule reports the invalid URL
  return [...new URL(url).searchParams.keys()].every((name) => databaseUrlParameters.includes(name));
}
