import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '../../errors/error-table.ts';
import { createFairTurns } from '../../scheduling/fair-turns.ts';
import { yieldToEventLoop } from '../../scheduling/yield.ts';
import { createStructureCheck, parseJson, requireBoundedStructure, requireWholeText } from './json.ts';

/** A body with more bytes is large. Reading it takes memory that other requests need. */
export const largeBodyBytes = 1024 * 1024;

/** A body up to this size is small, and needs no slot. Parsing and checking it takes less than 1 ms. */
const smallBodyBytes = 16 * 1024;

/**
 * The slots of a process for requests with bodies between these two sizes, one for each key. Together they take at most
 * 32 MiB. There are many slots because some of these requests may wait for a locked location.
 */
const maxMediumAtOnce = 32;

/** The slots of a process for requests with large bodies, one for each key. Each request takes about 50 MiB. */
const maxLargeAtOnce = 2;

/** How many requests of a key with large bodies may wait in a process. Their bodies are not read yet. */
const maxWaitingLargeBodies = 10;

/** How long a large body may take to arrive. A slow sender must not delay other requests of its key for longer. */
const largeBodyTimeoutMs = 30_000;

/**
 * Reads and parses the JSON of a request, and answers the request. Small bodies are answered at once. All others wait for
 * a slot, of which each key has one at a time, and yield to the event loop while they are parsed.
 *
 * @param keyId the key of the request; keys take turns
 * @param answer answers the request with the parsed body
 * @throws {ServiceError} `VALIDATION_ERROR` for a body that is not JSON, exceeds a limit, or arrives too slowly;
 *   `RATE_LIMIT_EXCEEDED` when too many large bodies wait
 */
type BodyAnswerer = <Answer>(
  request: Request,
  keyId: string,
  answer: (body: unknown) => Promise<Answer>,
) => Promise<Answer>;

/** Creates the body reader of one process. Large bodies, and bodies of unknown length, wait for a slot to be read. */
export function createBodyAnswerer(): BodyAnswerer {
  const mediumTurns = createFairTurns(maxMediumAtOnce);
  const largeTurns = createFairTurns(maxLargeAtOnce);
  return async (request, keyId, answer) => {
    const { headers } = request;
    const bytes = headers.has('transfer-encoding') ? Infinity : Number(headers.get('content-length') ?? 0);
    if (bytes <= smallBodyBytes) return answer(parseJson(await request.text()));
    if (bytes <= largeBodyBytes) {
      const text = await request.text();
      return mediumTurns.run(keyId, async () => answer(await parseInTurns(text)));
    }
    if (largeTurns.waiting(keyId) >= maxWaitingLargeBodies) {
      throw new ServiceError(
        'RATE_LIMIT_EXCEEDED',
        'Too many large requests of this API key are waiting, please try again later',
      );
    }
    return largeTurns.run(keyId, async () => {
      const text = await boundedText(request);
      return answer(await parseInTurns(text, { isBounded: true }));
    });
  };
}

/** Parses a JSON text as `parseJson` does, and yields to the event loop between the steps. */
async function parseInTurns(text: string, { isBounded = false } = {}): Promise<unknown> {
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
 * Creates a JSON parser for texts whose request has been read already. A text that is not small waits for a slot, of
 * which each key has one at a time.
 */
export function createJsonParser(): (text: string, keyId: string) => unknown {
  const turns = createFairTurns(maxMediumAtOnce);
  return (text, keyId) =>
    text.length <= smallBodyBytes ? parseJson(text) : turns.run(keyId, () => parseInTurns(text));
}

/** A byte order mark is not part of the text (Encoding, "UTF-8 decode"). `Request.text` removes it, too. */
const byteOrderMark = /^\ufeff/;

/**
 * Reads a JSON text and checks its structure as it arrives. Other requests run between its parts. A text that exceeds a
 * limit is dropped as soon as the limit is exceeded.
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
      // Check each part, because decoding megabytes that are not UTF-8 takes long.
      requireWholeText(part);
      requireBoundedStructure(part, faultOf);
    }
  } finally {
    clearTimeout(timer);
  }
}
