import { exitCode, Failure } from './failure.ts';
import type { RestCall } from './rest-client.ts';

/**
 * The fields that the command reads from each request in a HAR file (HTTP Archive 1.2). Browsers and proxies write HAR
 * files.
 */
interface HarRequest {
  method: string;
  url: string;
  headers?: { name: string; value: string }[];
  postData?: { text?: string };
}

/** The contents of a HAR file: the REST requests, and the number of requests that are not REST requests. */
export interface Recording {
  calls: RestCall[];
  others: number;
}

/**
 * Reads the text of a HAR file (recorded HTTP requests). Returns `undefined` when the file contains no JSON.
 *
 * @throws {Failure} when the text is JSON but not a HAR file
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
  // The command skips requests with the method OPTIONS, because these requests come from the browser itself (CORS
  // preflight) and not from the recorded program.
  if (!path || method === 'OPTIONS') return undefined;
  const ifMatch = headers.find(({ name }) => name.toLowerCase() === 'if-match')?.value;
  return { method, path, body: postData?.text || undefined, ifMatch };
}
