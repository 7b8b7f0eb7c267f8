import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '../../errors/error-table.ts';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { yieldToEventLoop } from '../../scheduling/yield.ts';
import { createStructureCheck, parseJson, requireBoundedStructure, requireWholeText } from './json.ts';

/** A body with more bytes than this is large. Reading a large body takes memory that other requests need. */
export const largeBodyBytes = 1024 * 1024;

/**
 * A body up to this size, in bytes, is small and needs no slot. Parsing and checking a small body takes less than 1 ms.
 */
const smallBodyBytes = 16 * 1024;

/**
 * How long a large body may take to arrive, in milliseconds. A slow client must not delay other requests of its key for
 * longer.
 */
const largeBodyTimeoutMs = 30_000;

/**
 * Reads and parses the JSON of a request, and answers the request. A request with a small body is answered at once. Any
 * other request waits for a slot, of which each key has one at a time, and yields to the event loop while the body is
 * parsed.
 *
 * @param keyId the key of the request; each key has one slot at a time
 * @param answer answers the request with the parsed body
 * @throws {ServiceError} `VALIDATION_ERROR` for a body that is not JSON, exceeds a limit, or arrives too slowly;
 *   `RATE_LIMIT_EXCEEDED` when too many large bodies wait
 */
type BodyAnswerer = <Answer>(
  request: Request,
  keyId: string,
  answer: (body: unknown) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Creates the body reader of one process. Large bodies, and bodies of unknown length, wait for a slot before they are
 * read.
 */
export function createBodyAnswerer(): BodyAnswerer {
  const mediumSlots = createSlots(slotLimits.mediumBodies);
  const largeSlots = createSlots(slotLimits.largeBodies);
  return async (request, keyId, answer) => {
    const { headers } = request;
    const bytes = headers.has('transfer-encoding') ? Infinity : Number(headers.get('content-length') ?? 0);
    if (bytes <= smallBodyBytes) return answer(parseJson(await request.text()));
    if (bytes <= largeBodyBytes) {
      const text = await request.text();
      return mediumSlots.run(keyId, async () => answer(await parseYielding(text)));
    }
    return largeSlots.run(keyId, async () => {
      const text = await boundedText(request);
      return answer(await parseYielding(text, { isBounded: true }));
    });
  };
}

/** Parses a JSON text as `parseJson` does, and yields to the event loop between the steps. */
async function parseYielding(text: string, { isBounded = false } = {}): Promise<unknown> {
  await yieldToEventLoop();
  if (!isBounded) {
    requireBoundedStructure(text);
    await yieldToEventLoop();
  }
  const value = parseJson(text, { isBounded: true });
  await yieldToEventLoop();
  return value;
}

/**
 * Creates a JSON parser for texts whose request has already been read. A text that is not small waits for a slot. Each
 * key has one slot at a time.
 */
export function createJsonParser(): (text: string, keyId: string) => unknown {
  const slots = createSlots(slotLimits.mediumBodies);
  return (text, keyId) =>
    text.length <= smallBodyBytes ? parseJson(text) : slots.run(keyId, () => parseYielding(text));
}

/**
 * The byte order mark, which is not part of the text (Encoding, "UTF-8 decode"). `Request.text` also removes the mark.
 */
const byteOrderMark = /^\ufeff/;

/**
 * Reads a JSON text and checks its structure while the text arrives. Other requests run between the parts of the text.
 * As soon as the text exceeds a limit, the text is dropped.
 */
async function boundedText({ body }: Request): Promise<string> {
  if (!body) return '';
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ServiceError('VALIDATION_ERROR', 'Request body did not arrive in time')),
      largeBodyTimeoutMs,
    );
  });
  const reader = body.getReader();
  const decoder = new StringDecoder('utf8');
  const faultOf = createStructureCheck();
  const parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), tooSlow]);
      const part = done ? decoder.end() : decoder.write(Buffer.from(value));
      parts.push(part);
      if (done) return parts.join('').replace(byteOrderMark, '');
      // Each part is checked separately, because decoding megabytes of bytes that are not UTF-8 takes long.
      requireWholeText(part);
      requireBoundedStructure(part, faultOf);
    }
  } finally {
    clearTimeout(timer);
  }
}
