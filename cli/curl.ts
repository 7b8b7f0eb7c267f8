import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exitCode, Failure } from './failure.ts';
import type { RestCall } from './rest-client.ts';
import { shellCommands } from './shell-words.ts';

/**
 * The curl options that the command reads, because these options change the request. Some options have a short form.
 */
const meaningful = {
  request: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd', multiple: true },
  'data-ascii': { type: 'string', multiple: true },
  'data-binary': { type: 'string', multiple: true },
  'data-raw': { type: 'string', multiple: true },
  'data-urlencode': { type: 'string', multiple: true },
  json: { type: 'string', multiple: true },
  get: { type: 'boolean', short: 'G' },
  url: { type: 'string' },
} as const;

/**
 * The curl options with a value that only affect how curl sends the request or prints the response. The command ignores
 * these options.
 */
const ignoredWithValue = {
  'user-agent': 'A',
  referer: 'e',
  cookie: 'b',
  'cookie-jar': 'c',
  output: 'o',
  'write-out': 'w',
  'max-time': 'm',
  proxy: 'x',
  user: 'u',
  cert: 'E',
  'connect-timeout': '',
  retry: '',
  'retry-delay': '',
  'retry-max-time': '',
  cacert: '',
  key: '',
  resolve: '',
} as const;

/**
 * The curl options without a value that only affect how curl sends the request or prints the response. The command
 * ignores these options.
 */
const ignoredFlags = {
  silent: 's',
  'show-error': 'S',
  fail: 'f',
  include: 'i',
  insecure: 'k',
  location: 'L',
  verbose: 'v',
  'no-buffer': 'N',
  'remote-name': 'O',
  ipv4: '4',
  ipv6: '6',
  'fail-with-body': '',
  compressed: '',
  'retry-all-errors': '',
  globoff: 'g',
  'http1.1': '',
  http2: '',
} as const;

const ignored = (options: Record<string, string>, type: 'string' | 'boolean') =>
  Object.fromEntries(
    Object.entries(options).map(([name, short]) => [name, { type, multiple: true, ...(short && { short }) }]),
  );

const options = {
  ...ignored(ignoredWithValue, 'string'),
  ...ignored(ignoredFlags, 'boolean'),
  ...meaningful,
};

/**
 * Returns the REST requests from a text with curl commands. A user can write the curl commands, or copy them from a
 * browser. The function ignores all shell commands except curl.
 *
 * @throws {Failure} when a curl command is invalid, or when pms does not support an option of the curl command
 */
export const curlCalls = (script: string): RestCall[] =>
  shellCommands(script)
    .map((words) => words.slice(words.indexOf('curl')))
    .filter(([program]) => program === 'curl')
    .map(([, ...args]) => callOf(args));

function callOf(args: string[]): RestCall {
  const { values, addresses } = parse(args);
  const [address, ...more] = addresses;
  if (address === undefined || more.length > 0) {
    // The error message does not show the URLs of the curl command, because a URL may be an API key. If the user forgot
    // the quotes around a header, `pms` reads the API key in this header as a URL.
    throw new Failure(
      `A curl line must have exactly one address, not ${addresses.length}. Quote each header and each address that contains spaces.`,
      exitCode.usage,
    );
  }
  const path = /\/api\/[^#]*/.exec(address)?.[0];
  if (!path) {
    throw new Failure(`Not the address of a REST endpoint${shownAddress(address)}`, exitCode.usage);
  }
  const data = dataOf(values);
  if (values.get) {
    const query = data.join('&');
    return {
      method: values.request ?? 'GET',
      path: query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path,
    };
  }
  const ifMatch = values.header?.map((header) => /^if-match:\s*(.+)$/i.exec(header)?.[1]).find(Boolean);
  return {
    method: values.request ?? (data.length > 0 ? 'POST' : 'GET'),
    path,
    body: data.length > 0 ? data.join('&') : undefined,
    ifMatch,
  };
}

/**
 * Returns a URL for an error message: the URL without its password and its query. If `address` is not a URL, the error
 * message does not show `address`, because `address` may be an API key.
 */
function shownAddress(address: string): string {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return '; an address contains /api/';
  const { origin, pathname } = new URL(address);
  return `: ${origin}${pathname}`;
}

type Values = ReturnType<typeof parseArgs<{ options: typeof meaningful }>>['values'];

function parse(args: string[]): { values: Values; addresses: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const { url } = values as Values;
    return { values: values as Values, addresses: url === undefined ? positionals : [url, ...positionals] };
  } catch (error) {
    throw new Failure(`Cannot read the curl line: ${(error as Error).message}`, exitCode.usage);
  }
}

/** Returns the parts of the request body. curl joins these parts with `&`. */
function dataOf(values: Values): string[] {
  const ofFile = (text: string) => (text.startsWith('@') ? readData(text.slice(1)) : text);
  return [
    ...[...(values.data ?? []), ...(values['data-ascii'] ?? [])].map((text) =>
      text.startsWith('@') ? ofFile(text).replace(/[\r\n]/g, '') : text,
    ),
    ...[...(values['data-binary'] ?? []), ...(values.json ?? [])].map(ofFile),
    ...(values['data-raw'] ?? []),
    ...(values['data-urlencode'] ?? []).map((text) => {
      const [name, ...value] = text.split('=');
      return value.length > 0 ? `${name}=${encodeURIComponent(value.join('='))}` : encodeURIComponent(text);
    }),
  ];
}

/** Reads the request body from the file whose name is in a curl command. */
function readData(path: string): string {
  if (path === '-') {
    throw new Failure(
      'The curl line reads its body from the standard input: write the body into the line instead',
      exitCode.usage,
    );
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(`Cannot read the body of the curl line: ${(error as Error).message}`, exitCode.usage);
  }
}
