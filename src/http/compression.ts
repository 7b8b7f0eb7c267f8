import { Duplex } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

/** The content codings that the gateway makes, the better one first. */
const codings = ['br', 'gzip'] as const;

/** How an answer is compressed (RFC 9110, "Content Codings"). */
export type ContentCoding = (typeof codings)[number];

/** The shortest text that is compressed, in characters: shorter ones fit into few packets anyway. */
const minCompressedCharacters = 4096;

/** As fast as gzip at its usual level, and a fifth smaller. */
const brotliQuality = 4;

/**
 * The coding that a client likes best; undefined when it takes none (RFC 9110, "Accept-Encoding").
 *
 * @param offered the codings that there are, the better one first
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

/** Whether a body may be so large that to compress it pays: long text, or a list that is streamed. */
export const isLarge = (body: string | ReadableStream<Uint8Array>) =>
  typeof body !== 'string' || body.length >= minCompressedCharacters;

/** Counts bytes of an answer that wait in memory for the client; less than 0 for those that were passed on. */
type HoldBytes = (change: number) => void;

/**
 * Compresses a finished answer in JSON when it is large. Event streams pass as they are: each event must arrive at
 * once.
 */
export async function compressJson(
  response: Response,
  acceptEncoding: string | undefined,
  hold: HoldBytes,
): Promise<Response> {
  const { status, headers } = response;
  const isJson = headers.get('content-type')?.includes('json');
  if (!isJson || Number(headers.get('content-length')) < minCompressedCharacters) return response;
  const answer = new Headers(headers);
  answer.append('Vary', 'Accept-Encoding');
  const coding = contentCoding(acceptEncoding);
  const text = await response.text();
  if (!coding) return new Response(text, { status, headers: answer });
  answer.delete('content-length');
  answer.set('Content-Encoding', coding);
  return new Response(compressed(text, coding, hold), { status, headers: answer });
}

/** How much of a text is compressed at once, in bytes: the rest waits until the client has taken what came before. */
const bytesAtOnce = 64 * 1024;

/** A text as a stream that makes nothing before it is asked for. */
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
 * Compresses a body outside of the event loop. Each chunk of a stream is passed on as soon as it comes: the first
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
