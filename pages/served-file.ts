import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'hono';
import { contentCoding } from '../src/http/compression.ts';

const compress = promisify(gzip);

/** A file that every request gets from the same memory: many readers at once take no more of it. */
export interface ServedFile {
  contentType: string;
  /** How long a browser may keep it (RFC 9111). */
  cacheControl: string;
  /** Names the content, whether compressed or not (RFC 9110, "Weak ETag"). */
  etag: string;
  content: Uint8Array<ArrayBuffer>;
  /** The content compressed, made once. */
  zipped: Promise<Uint8Array<ArrayBuffer>>;
}

/** The browser asks every time whether the file has changed. */
const askAgain = 'public, no-cache';

/** The name changes with the content: what was loaded once is good for ever. */
export const keepForEver = 'public, max-age=31536000, immutable';

/** Prepares a file to be served. */
export function servedFile(
  content: string | Uint8Array,
  contentType: string,
  cacheControl = askAgain,
): ServedFile {
  const bytes = new Uint8Array(typeof content === 'string' ? Buffer.from(content) : content);
  return {
    contentType,
    cacheControl,
    etag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
    content: bytes,
    zipped: compress(bytes).then((zipped) => new Uint8Array(zipped)),
  };
}

/** Whether the browser has the content already (RFC 9110, "If-None-Match", weak comparison). */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (!ifNoneMatch) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** Answers with a file: 304 when the browser has it, compressed when it takes that. */
export async function serveFile(c: Context, file: ServedFile): Promise<Response> {
  const { contentType, cacheControl, etag, content, zipped } = file;
  const headers = { ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept, Accept-Encoding' };
  if (isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
  return contentCoding(c.req.header('accept-encoding'), ['gzip'])
    ? c.body(await zipped, 200, { ...headers, 'Content-Type': contentType, 'Content-Encoding': 'gzip' })
    : c.body(content, 200, { ...headers, 'Content-Type': contentType });
}
