import { exitCode, Failure } from './failure.ts';
import { isObject } from './is-object.ts';
import type { RestCall } from './rest-client.ts';

/** The contents of a HAR file: the REST requests, and the number of requests that are not REST requests. */
export interface Recording {
  calls: RestCall[];
  others: number;
}

/** Creates the error for a JSON text that is not a HAR file. */
const notHar = (difference: string) =>
  new Failure(`The JSON is not a HAR file: ${difference}`, exitCode.usage);

/**
 * Checks that a value in a HAR file is an object, and returns the object. If the value is not an object, the error
 * message contains `path`, which is the place of the value in the HAR file.
 */
function objectAt(path: string, value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw notHar(`${path} must be an object`);
  return value;
}

/**
 * Checks that a value in a HAR file is a text, and returns the text. If the value is not a text, the error message
 * contains `path`, which is the place of the value in the HAR file.
 */
function textAt(path: string, value: unknown): string {
  if (typeof value !== 'string') throw notHar(`${path} must be a string`);
  return value;
}

/**
 * Checks that a value in a HAR file is an array, and returns the array. If the value is not an array, the error message
 * contains `path`, which is the place of the value in the HAR file.
 */
function arrayAt(path: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw notHar(`${path} must be an array`);
  return value;
}

/**
 * Reads the text of a HAR file (HTTP Archive 1.2), which contains recorded HTTP requests. Browsers and proxies write
 * HAR files. Returns `undefined` when the file contains no JSON.
 *
 * @throws {Failure} when the text is JSON but not a HAR file. The error message names the faulty value
 */
export function readRecording(text: string): Recording | undefined {
  let har: unknown;
  try {
    har = JSON.parse(text);
  } catch {
    return undefined;
  }
  const log = isObject(har) && isObject(har.log) ? har.log : {};
  if (log.entries === undefined) throw notHar('log.entries is missing');
  const entries = arrayAt('log.entries', log.entries);
  const calls = entries.flatMap((entry, index) => callOf(entry, `log.entries.${index}`) ?? []);
  return { calls, others: entries.length - calls.length };
}

/** Returns the REST request in an entry of a HAR file, or `undefined` if the request is not a REST request. */
function callOf(entry: unknown, entryPath: string): RestCall | undefined {
  const at = `${entryPath}.request`;
  const request = objectAt(at, objectAt(entryPath, entry).request);
  const method = textAt(`${at}.method`, request.method);
  const url = textAt(`${at}.url`, request.url);
  const path = URL.canParse(url) ? /\/api\/[^#]*/.exec(url)?.[0] : undefined;
  // The command skips requests with the method OPTIONS (CORS preflight). The browser itself sends CORS preflight
  // requests; the program whose requests the HAR file contains does not send them.
  if (!path || method === 'OPTIONS') return undefined;
  // Some programs write null into the HAR file for a part that a request does not have.
  const { text } = objectAt(`${at}.postData`, request.postData ?? {});
  const body = textAt(`${at}.postData.text`, text ?? '') || undefined;
  return { method, path, body, ifMatch: ifMatchOf(request.headers ?? [], `${at}.headers`) };
}

/** Returns the value of the first header `If-Match` of a request, or `undefined` if the request has no such header. */
function ifMatchOf(headers: unknown, path: string): string | undefined {
  const [ifMatch] = arrayAt(path, headers).flatMap((value, index) => {
    const at = `${path}.${index}`;
    const header = objectAt(at, value);
    const isIfMatch = textAt(`${at}.name`, header.name).toLowerCase() === 'if-match';
    return isIfMatch ? [textAt(`${at}.value`, header.value)] : [];
  });
  return ifMatch;
}
