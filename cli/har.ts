import { exitCode, Failure } from './failure.ts';
import type { RestCall } from './rest-client.ts';

/**
 * The fields of a request in a HAR file (HTTP Archive 1.2) that the command reads. Browsers and proxies write such
 * files.
 */
interface HarRequest {
  method: string;
  url: string;
  headers?: { name: string; value: string }[];
  postData?: { text?: string };
}

/** The REST requests in a HAR file, and the number of other requests in it. */
export interface Recording {
  calls: RestCall[];
  others: number;
}

/**
 * Reads a HAR file. The result is undefined when the text is not JSON.
 *
 * @throws {Failure} for JSON that is not a HAR file
 */
export function readRecording(text: string): Recording | undefined {
  let har: { log?: { entries?: { request?: HarRequest }[] } } | null;
  try {
    har = JSON.parse(text) as typeof har;
  } catch {
    return undefined;
  }
  const entries = har?.log?.entries;
  if (!Array.isArray(entries))
    throw new Failure('The JSON is not a HAR file: log.entries is missing', exitCode.usage);
  const calls = entries.flatMap(({ request }) => (request ? (callOf(request) ?? []) : []));
  return { calls, others: entries.length - calls.length };
}

function callOf({ method, url, headers = [], postData }: HarRequest): RestCall | undefined {
  const path = URL.canParse(url) ? /\/api\/[^#]*/.exec(url)?.[0] : undefined;
  // Browsers send requests with the method OPTIONS themselves, as CORS preflight, so they are skipped.
  if (!path || method === 'OPTIONS') return undefined;
  const ifMatch = headers.find(({ name }) => name.toLowerCase() === 'if-match')?.value;
  return { method, path, body: postData?.text || undefined, ifMatch };
}
