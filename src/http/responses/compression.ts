import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { type BrotliCompress, constants, createBrotliCompress, createGzip, type Gzip } from 'node:zlib';

/**
 * The compression methods (content codings) that the gateway supports. The first method in the list is the compression
 * method that the gateway prefers.
 */
const codings = ['br', 'gzip'] as const;

/** The name of a compression method (RFC 9110, "Content Codings"). */
export type ContentCoding = (typeof codings)[number];

/**
 * The minimum length of a text that the gateway compresses, in characters. Without compression, a text below the
 * minimum length fits into a few network packets.
 */
const minCompressedCharacters = 4096;

/**
 * The quality level of the Brotli compression. At quality level 4, Brotli is as fast as gzip at the default level of
 * gzip. The output of Brotli is a fifth smaller than the output of gzip.
 */
const brotliQuality = 4;

/**
 * Returns the compression method that the client prefers, or undefined when the client accepts no supported method (RFC
 * 9110, "Accept-Encoding").
 */
export function contentCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (!acceptEncoding) return undefined;
  const qualities = new Map(
    acceptEncoding.split(',').map((entry) => {
      const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name!, quality === undefined ? 1 : Number(quality) || 0];
    }),
  );
  const qualityOf = (coding: ContentCoding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [best] = codings
    .filter((coding) => qualityOf(coding) > 0)
    .sort((a, b) => qualityOf(b) - qualityOf(a));
  return best;
}

/** Whether a response body is long enough for compression. A streamed list is always compressed. */
export const isLarge = (body: string | ReadableStream<Uint8Array>) =>
  typeof body !== 'string' || body.length >= minCompressedCharacters;

/**
 * Adds `change` to the number of response bytes that wait in memory for the client; `change` is negative for bytes that
 * no longer wait.
 */
type HoldBytes = (change: number) => void;

/**
 * The number of bytes of a text that are compressed in one step. The gateway compresses the next bytes of a text only
 * after the client has read the bytes before them.
 */
const bytesAtOnce = 64 * 1024;

/** Converts a text to a stream. The stream produces each part of the text only when the consumer requests this part. */
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
 * Compresses a response body without blocking the event loop. The gateway sends each chunk of a streamed body as soon
 * as the chunk is compressed, so that the first entries of a long list are not delayed. The function `compressed` reads
 * the body only as fast as the client reads the response. If the response is sent without its body, as for a HEAD
 * request, the function `compressed` does not read the body at all.
 */
export function compressed(
  body: string | ReadableStream<Uint8Array>,
  coding: ContentCoding,
  hold: HoldBytes,
): ReadableStream<Uint8Array> {
  const source = typeof body === 'string' ? textStream(body, hold) : body;
  // In Node 20, `pipeThrough` with `Duplex.toWeb` would read up to 16,384 parts of the body before the client reads the
  // first part. The queue of `Duplex.toWeb` limits the number of parts, not the number of bytes.
  const startCompression = () => {
    const encoder = newEncoder(coding);
    pipeline(Readable.fromWeb(source as NodeReadableStream), encoder, () => {
      // If reading the body fails, `reader.read()` throws the error. The callback of `pipeline` therefore does not need
      // to handle this error.
    });
    return Readable.toWeb(encoder).getReader();
  };
  let reader: ReturnType<typeof startCompression> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        reader ??= startCompression();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array);
      },
      cancel: (reason) => (reader ?? source).cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

const newEncoder = (coding: ContentCoding): BrotliCompress | Gzip =>
  coding === 'br'
    ? createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
      })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });
