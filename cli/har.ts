import { exitCode, Failure } from './failure.ts';
import type { RestCall } from './rest-client.ts';

/** What is read of a request in a HAR file (HTTP Archive 1.2): browsers and proxies record such files. */
interface HarRequest {
  method: string;
  url: string;
  headers?: { name: string; value: string }[];
  postData?: { text?: string };
}

/** The calls of a recording to the REST surface, and how many requests went elsewhere. */
export interface Recording {
  calls: RestCall[];
  others: number;
}

/** Reads a HAR file; undefined for a text that is no JSON. @throws {Failure} for JSON that is something else */
export function readRecording(text: string): Recording | undefined {
  let har: { log?: { entries?: { request?: HarRequest }[] } } | null;
  try {
    har = JSON.parse(text) as typeof har;
  } catch {
    return undefined;
  }
  const entries = har?.log?.entries;
  if (!Array.isArray(entries))
    throw new Failure('The JSON is no HAR file: it has no log.entries', exitCode.usage);
  const calls = entries.flatMap(({ request }) => (request ? (callOf(request) ?? []) : []));
  return { calls, others: entries.length - calls.length };
}

function callOf({ method, url, headers = [], postData }: HarRequest): RestCall | undefined {
  const path = URL.canParse(url) ? /\/api\/[^#]*/.exec(url)?.[0] : undefined;
  // A browser asks before it calls another origin: that is no call.
  if (!path || method === 'OPTIONS') return undefined;
  const ifMatch = headers.find(({ name }) => name.toLowerCase() === 'if-match')?.value;
  return { method, path, body: postData?.text || undefined, ifMatch };
}
