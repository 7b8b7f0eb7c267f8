import { Duplex } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

/** The compression methods (content codings) that the gateway supports, the preferred method first. */
const codings = ['br', 'gzip'] as const;

/** The name of a compression method (RFC 9110, "Content Codings"). */
export type ContentCoding = (typeof codings)[number];

/**
 * The minimum length of a text that is compressed, in characters. A shorter text fits into a few network packets
 * without compression.
 */
const minCompressedCharacters = 4096;

/**
 * The quality level of Brotli. At this level, Brotli is as fast as gzip at its default level, and its output is a fifth
 * smaller.
 */
const brotliQuality = 4;

/**
 * Returns the compression method that the client prefers, or undefined when the client accepts no supported method (RFC
 * 9110, "Accept-Encoding").
 *
 * @param offered the supported methods, the preferred method first
 */
export function contentCoding(
  acceptEncoding: string | undefined,
  offered: readonly ContentCoding[] = codings,
): ContentCoding | undefined {
  if (!acceptEncoding) return undefined;
  const qualities = new Map(
    acceptEncoding.split(',').map((entry) => {
      const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name!, quality === undefined ? 1 : Number(quality) || 0];
    }),
  );
  const qualityOf = (coding: ContentCoding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [best] = offered
    .filter((coding) => qualityOf(coding) > 0)
    .sort((a, b) => qualityOf(b) - qualityOf(a));
  return best;
}

/** Whether a body is so large that compressing it is worth the time. All streamed lists count as large. */
export const isLarge = (body: string | ReadableStream<Uint8Array>) =>
  typeof body !== 'string' || body.length >= minCompressedCharacters;

/**
 * Changes the count of response bytes that wait in memory for the client. The number is negative when bytes were passed
 * to the connection.
 */
type HoldBytes = (change: number) => void;

/**
 * How many bytes of a text are compressed in one step. The next step starts when the client has read the earlier bytes.
 */
const bytesAtOnce = 64 * 1024;

/** Converts a text to a stream. The stream produces the next part only when the consumer asks for it. */
function textStream(text: string, hold: HoldBytes): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let passed = 0;
  hold(bytes.length);
  return new ReadableStream(
    {
      pull(controller) {
        const part = bytes.subarray(passed, passed + bytesAtOnce);
        passed += part.length;
        hold(-part.length);
        controller.enqueue(part);
        if (passed === bytes.length) controller.close();
      },
      cancel: () => hold(passed - bytes.length),
    },
    { highWaterMark: 0 },
  );
}

/**
 * Compresses a body outside of the event loop. Each chunk of a stream is sent as soon as it is compressed, so the first
 * entries of a long list arrive as early as without compression.
 */
export function compressed(
  body: string | ReadableStream<Uint8Array>,
  coding: ContentCoding,
  hold: HoldBytes,
): ReadableStream<Uint8Array> {
  const encoder =
    coding === 'br'
      ? createBrotliCompress({
          flush: constants.BROTLI_OPERATION_FLUSH,
          params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
        })
      : createGzip({ flush: constants.Z_SYNC_FLUSH });
  const source = typeof body === 'string' ? textStream(body, hold) : body;
  return source.pipeThrough(Duplex.toWeb(encoder) as TransformStream<Uint8Array, Uint8Array>);
}
