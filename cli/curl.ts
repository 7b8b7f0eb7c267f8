import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exitCode, Failure } from './failure.ts';
import type { RestCall } from './rest-client.ts';
import { shellCommands } from './shell-words.ts';

/**
 * The curl options that `pms translate` reads, because these options change the request. Some of these curl options
 * have a short form.
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
  url: { type: 'string', multiple: true },
} as const;

/**
 * The curl options that have a value, and that only affect how curl sends the request or prints the response. The
 * command `pms translate` ignores these curl options.
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
 * The curl options that have no value, and that only affect how curl sends the request or prints the response. The
 * command `pms translate` ignores these curl options.
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
 * Finds the curl commands in a text, and returns the REST requests of these commands. A user can write the curl
 * commands, or copy them from a browser. The function ignores all shell commands except curl. The function also reads a
 * command such as `timeout 5 curl URL`. The function ignores a command such as `apt install curl`, because this command
 * contains no address of a REST endpoint.
 *
 * @throws {Failure} when a curl command is invalid, or when pms does not support an option of the curl command
 */
export const curlCalls = (script: string): RestCall[] =>
  shellCommands(script).flatMap((words) => {
    const at = words.indexOf('curl');
    const isCurl = at === 0 || (at > 0 && words.slice(at).some((word) => word.includes('/api/')));
    return isCurl ? [callOf(words.slice(at + 1))] : [];
  });

function callOf(args: string[]): RestCall {
  const { values, addresses, data } = parse(args);
  const [address, ...more] = addresses;
  if (address === undefined || more.length > 0) {
    // The error message does not show the URLs of the curl command, because a URL may be an API key. If the user forgot
    // the quotes around a header, `pms` mistakes the API key in this header for a URL.
    throw new Failure(
      `A curl line must have exactly one address, not ${addresses.length}. Quote each header and each address that contains spaces.`,
      exitCode.usage,
    );
  }
  const path = /\/api\/[^#]*/.exec(address)?.[0];
  if (!path) {
    throw new Failure(`Not the address of a REST endpoint${shownAddress(address)}`, exitCode.usage);
  }
  const body = bodyOf(data);
  const headers = values.header?.flatMap(headerLines);
  const versions = headers?.flatMap((header) => /^if-match:\s*(.+)$/i.exec(header)?.[1] ?? []);
  const ifMatch = versions?.length ? versions.join(', ') : undefined;
  if (values.get) return { method: values.request ?? 'GET', path: withQuery(path, body), ifMatch };
  return { method: values.request ?? (body === undefined ? 'GET' : 'POST'), path, body, ifMatch };
}

/** Appends data to the query string of a path, as curl does with the option `--get`. */
function withQuery(path: string, data: string | undefined): string {
  if (!data) return path;
  if (!path.includes('?')) return `${path}?${data}`;
  return /[?&]$/.test(path) ? path + data : `${path}&${data}`;
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

/** A curl option that contains a part of the request body, such as `--data` or `--json`. */
interface DataOption {
  name: keyof typeof dataReaders;
  value: string;
}

/**
 * Parses the arguments of a curl command. The function keeps the order of the options that contain parts of the request
 * body.
 */
function parse(args: string[]): { values: Values; addresses: string[]; data: DataOption[] } {
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true, tokens: true });
    const values = parsed.values as Values;
    const data = parsed.tokens.flatMap((token) => {
      const isData = token.kind === 'option' && Object.hasOwn(dataReaders, token.name);
      return isData ? [{ name: token.name, value: token.value } as DataOption] : [];
    });
    return { values, addresses: [...(values.url ?? []), ...parsed.positionals], data };
  } catch (error) {
    throw new Failure(`Cannot read the curl line: ${(error as Error).message}`, exitCode.usage);
  }
}

const textOrFile = (value: string) => (value.startsWith('@') ? readPart('body', value.slice(1)) : value);

/**
 * Returns the headers of one option `--header`. The value of this option is either a header, or `@` and the name of a
 * file with headers.
 */
const headerLines = (value: string) =>
  value.startsWith('@') ? readPart('headers', value.slice(1)).split(/\r?\n/) : [value];

const withoutLineBreaks = (value: string) =>
  value.startsWith('@') ? textOrFile(value).replace(/[\r\n\0]/g, '') : value;

/** Encodes a value of `--data-urlencode`: `content`, `=content`, `name=content`, `@file` or `name@file`. */
function urlEncoded(value: string): string {
  const [, name, sign, rest] = /^([^=]*)(=)([^]*)$/.exec(value) ?? /^([^@]*)(@)([^]*)$/.exec(value) ?? [];
  if (rest === undefined) return encodeURIComponent(value);
  const content = encodeURIComponent(sign === '@' ? readPart('body', rest) : rest);
  return name ? `${name}=${content}` : content;
}

/** Maps each curl option that contains a part of the request body to the function that returns this part. */
const dataReaders = {
  data: withoutLineBreaks,
  'data-ascii': withoutLineBreaks,
  'data-binary': textOrFile,
  'data-raw': (value: string) => value,
  'data-urlencode': urlEncoded,
  json: textOrFile,
};

/**
 * Returns the request body, or `undefined` when the curl command has no option with a part of the body. Like curl, the
 * function joins the parts with `&`, but appends the value of `--json` without a separator.
 */
function bodyOf(data: readonly DataOption[]): string | undefined {
  if (data.length === 0) return undefined;
  return data.reduce((body, { name, value }) => {
    const separator = body === '' || name === 'json' ? '' : '&';
    return body + separator + dataReaders[name](value);
  }, '');
}

/** Reads the body or the headers of a request from the file whose name is in a curl command. */
function readPart(part: 'body' | 'headers', path: string): string {
  if (path === '-') {
    throw new Failure(
      `The curl line reads its ${part} from the standard input: write the ${part} into the line instead`,
      exitCode.usage,
    );
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(
      `Cannot read the ${part} of the curl line: ${(error as Error).message}`,
      exitCode.usage,
    );
  }
}
