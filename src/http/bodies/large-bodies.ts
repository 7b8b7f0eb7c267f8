import { ServiceError } from '../../errors/error-table.ts';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { yieldToEventLoop } from '../../scheduling/yield.ts';
import {
  createStructureCheck,
  createUtf8Decoder,
  decodeUtf8,
  parseBoundedJson,
  parseJson,
  requireBoundedStructure,
} from './json.ts';

/**
 * The size in bytes above which a request body counts as large. A request with a large body waits for a free slot,
 * because the body needs much memory.
 */
export const largeBodyBytes = 1024 * 1024;

/**
 * The size in bytes up to which a request body counts as small. A small body is parsed immediately, without waiting for
 * a slot, because parsing and checking a small body takes less than 1 ms.
 */
const smallBodyBytes = 16 * 1024;

/**
 * The maximum time that a client may take to send a large request body, in milliseconds. While a large body arrives,
 * other requests with large bodies must wait if they have the same API key.
 */
const largeBodyTimeoutMs = 30_000;

/**
 * Reads and parses the JSON body of a request, and passes the body to a function that answers the request. A request
 * with a small body is answered immediately. A request with a medium or large body waits for a slot. The process checks
 * and parses a medium or large body in steps, and other requests can run between two steps.
 *
 * @param keyId the id of the request's API key. All requests of one API key together occupy at most one slot for large
 *   bodies, and at most one slot for medium bodies
 * @param answer a function that gets the parsed body and answers the request
 * @throws {ServiceError} `VALIDATION_ERROR` for a body that is not JSON, exceeds a limit, or arrives too slowly;
 *   `RATE_LIMIT_EXCEEDED` when too many large bodies wait
 */
type BodyAnswerer = <Answer>(
  request: Request,
  keyId: string,
  answer: (body: unknown) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Creates the function that reads the request bodies of one process. If the body of a request is large or of unknown
 * length, the request waits for a slot before the function reads the body.
 */
export function createBodyAnswerer(): BodyAnswerer {
  const mediumSlots = createSlots(slotLimits.mediumBodies);
  const largeSlots = createSlots(slotLimits.largeBodies);
  return async (request, keyId, answer) => {
    const { headers } = request;
    const bytes = headers.has('transfer-encoding') ? Infinity : Number(headers.get('content-length') ?? 0);
    if (bytes <= smallBodyBytes) return answer(parseJson(decodeUtf8(await request.arrayBuffer())));
    if (bytes <= largeBodyBytes) {
      const text = decodeUtf8(await request.arrayBuffer());
      return mediumSlots.run(keyId, async () => answer(await parseYielding(text)));
    }
    return largeSlots.run(keyId, async () => {
      const text = await boundedText(request);
      return answer(await parseBoundedYielding(text));
    });
  };
}

/**
 * Checks and parses a JSON text, like `parseJson`. The function yields to the event loop three times: before the check,
 * between the check and the parsing, and after the parsing.
 */
async function parseYielding(text: string): Promise<unknown> {
  await yieldToEventLoop();
  requireBoundedStructure(text);
  return parseBoundedYielding(text);
}

/**
 * Parses a JSON text whose structure has already been checked, and yields to the event loop before and after the
 * parsing.
 */
async function parseBoundedYielding(text: string): Promise<unknown> {
  await yieldToEventLoop();
  const value = parseBoundedJson(text);
  await yieldToEventLoop();
  return value;
}

/**
 * Creates a function that parses a JSON text that the process has already received. If a JSON text has more than
 * `smallBodyBytes` characters, the function waits for a free slot before it parses the text. All requests of one API
 * key together may use only one slot for parsing.
 */
export function createJsonParser(): (text: string, keyId: string) => unknown {
  const slots = createSlots(slotLimits.mediumBodies);
  return (text, keyId) =>
    text.length <= smallBodyBytes ? parseJson(text) : slots.run(keyId, () => parseYielding(text));
}

/**
 * Reads the JSON text of a request body, and checks the structure of the text while it arrives. While the function
 * waits for the next part of the JSON text, the process can work on other requests. The function stops reading as soon
 * as the JSON text exceeds a limit.
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
  const decode = createUtf8Decoder();
  const faultOf = createStructureCheck();
  const parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), tooSlow]);
      const part = decode(value);
      parts.push(part);
      if (done) return parts.join('');
      requireBoundedStructure(part, faultOf);
    }
  } finally {
    clearTimeout(timer);
  }
}
