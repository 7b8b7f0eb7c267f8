import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'hono';
import { type ContentCoding, contentCoding } from '../src/http/responses/compression.ts';

/**
 * The Brotli compression level for files. With a higher compression level, the files would be only 1% smaller, but the
 * compression would take several times as long.
 */
const brotliQuality = 6;

const brotli = promisify(brotliCompress);
const compress: Record<ContentCoding, (content: Uint8Array) => Promise<Uint8Array>> = {
  gzip: promisify(gzip),
  br: (content) => brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
};

/** A file that is stored in memory and sent to every client that requests it. */
export interface ServedFile {
  contentType: string;
  /** The value of the header `Cache-Control`, which tells a browser how long it may cache the file (RFC 9111). */
  cacheControl: string;
  /** The weak ETag of the file (RFC 9110). The compressed and the uncompressed content of a file have the same ETag. */
  etag: string;
  content: Uint8Array<ArrayBuffer>;
  /**
   * Returns the compressed content of the file. For each compression method, the gateway compresses the file once: when
   * the first client that accepts this method requests the file.
   */
  compressed(coding: ContentCoding): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * The value of `Cache-Control` for a file that can change. Before each use of its cached copy, the browser must ask the
 * gateway whether the copy is still current.
 */
const askAgain = 'public, no-cache';

/**
 * The value of `Cache-Control` for a file whose content never changes, because the file name contains a hash of the
 * content.
 */
export const keepForEver = 'public, max-age=31536000, immutable';

/** Creates a file that the gateway can serve, from the file's content and content type. */
export function servedFile(
  content: string | Uint8Array,
  contentType: string,
  cacheControl = askAgain,
): ServedFile {
  const bytes = new Uint8Array(typeof content === 'string' ? Buffer.from(content) : content);
  const made = new Map<ContentCoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    contentType,
    cacheControl,
    etag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
    content: bytes,
    compressed(coding) {
      const compressed = made.get(coding) ?? compress[coding](bytes).then((result) => new Uint8Array(result));
      made.set(coding, compressed);
      return compressed;
    },
  };
}

/**
 * Whether the browser already has the current content of the file. The function compares the ETags in `If-None-Match`
 * weakly: it ignores the prefix `W/` (RFC 9110).
 */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (!ifNoneMatch) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/**
 * Sends a file. If the browser already has the current content, the response has status 304 and no body. If the browser
 * accepts compression, the gateway sends the compressed file.
 */
export async function serveFile(c: Context, file: ServedFile): Promise<Response> {
  const { contentType, cacheControl, etag, content, compressed } = file;
  const headers = {
    ETag: etag,
    'Cache-Control': cacheControl,
    Vary: 'Accept, Accept-Encoding',
    'X-Content-Type-Options': 'nosniff', // the browser must not guess another content type than `contentType`
  };
  if (isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
  const coding = contentCoding(c.req.header('accept-encoding'));
  return coding
    ? c.body(await compressed(coding), 200, {
        ...headers,
        'Content-Type': contentType,
        'Content-Encoding': coding,
      })
    : c.body(content, 200, { ...headers, 'Content-Type': contentType });
}
