import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '../../errors/error-table.ts';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { yieldToEventLoop } from '../../scheduling/yield.ts';
import { createStructureCheck, parseJson, requireBoundedStructure, requireWholeText } from './json.ts';

/**
 * The size from which on a request body counts as large, in bytes. Reading a large body takes memory that other
 * requests need.
 */
export const largeBodyBytes = 1024 * 1024;

/**
 * The maximum size of a small body, in bytes. A small body needs no slot, because parsing and checking it takes less
 * than 1 ms.
 */
const smallBodyBytes = 16 * 1024;

/**
 * How long a large body may take to arrive, in milliseconds. The time is limited, because a large body of a slow client
 * delays other requests of the same API key.
 */
const largeBodyTimeoutMs = 30_000;

/**
 * Reads and parses the JSON body of a request, and answers the request. A request with a small body is answered
 * immediately. Any other request waits for a slot, and the parsing of its body yields to the event loop.
 *
 * @param keyId the API key of the request; each key has one slot at a time
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
 * Creates the function that reads request bodies in one process. A request with a large body, or with a body of unknown
 * length, waits for a slot before its body is read.
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

/** Parses a JSON text like `parseJson`, but yields to the event loop between the steps. */
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
 * Creates a function that parses a JSON text which has already been received. A text that is not small waits for a
 * slot. Each API key has one slot at a time.
 */
export function createJsonParser(): (text: string, keyId: string) => unknown {
  const slots = createSlots(slotLimits.mediumBodies);
  return (text, keyId) =>
    text.length <= smallBodyBytes ? parseJson(text) : slots.run(keyId, () => parseYielding(text));
}

/**
 * The byte order mark at the start of a text. It is not part of the text (Encoding, "UTF-8 decode"), and `Request.text`
 * removes it, too.
 */
const byteOrderMark = /^\ufeff/;

/**
 * Reads a JSON text and checks its structure while the text arrives. Other requests can run between two parts. When the
 * text exceeds a limit, reading stops.
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
      // Each part is checked before the next part is read, because decoding megabytes of bytes that are not UTF-8 takes
      // long.
      requireWholeText(part);
      requireBoundedStructure(part, faultOf);
    }
  } finally {
    clearTimeout(timer);
  }
}
