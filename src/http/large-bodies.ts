import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '../errors/error-table.ts';
import { createFairTurns } from '../fair-turns.ts';
import { freeMoment } from '../free-moment.ts';
import { createStructureCheck, parseJson, requireBoundedStructure, requireWholeText } from './json.ts';

/** From how many bytes on a body is large: to read it takes memory that others need. */
export const largeBodyBytes = 1024 * 1024;

/** Up to how many bytes a body is answered at once: to parse and check it takes less than a millisecond. */
const smallBodyBytes = 16 * 1024;

/**
 * Requests with bodies between these sizes that a process answers at once, one of each key: together at most 32 MiB. So
 * many, since some of them may wait for a location that is locked.
 */
const maxMediumAtOnce = 32;

/** Requests with large bodies that a process reads and answers at once, one of each key: each takes some 50 MiB. */
const maxLargeAtOnce = 2;

/** How many large bodies of a key may wait in a process; they are not read yet. */
const maxWaitingLargeBodies = 10;

/** How long a large body may take to arrive, so that a slow sender does not keep those of its key waiting. */
const largeBodyTimeoutMs = 30_000;

/**
 * Reads and parses the JSON of a request and answers it: small bodies at once, others in turn, so that one of each key
 * is answered at a time and other requests have their turn in between.
 *
 * @param keyId whose request it is: keys take turns
 * @param answer is told what the JSON says
 * @throws {ServiceError} `VALIDATION_ERROR` for a body that is not JSON within bounds, or that comes too slowly, and
 *   `RATE_LIMIT_EXCEEDED` when too many large bodies wait
 */
type BodyAnswerer = <Answer>(
  request: Request,
  keyId: string,
  answer: (body: unknown) => Promise<Answer>,
) => Promise<Answer>;

/** Creates what answers the bodies of one process. Large ones, and those of unknown length, are read in turn. */
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

/** Parses a JSON text as `parseJson` does, with the turns of other requests between the parts of the work. */
async function parseInTurns(text: string, { isBounded = false } = {}): Promise<unknown> {
  await freeMoment();
  if (!isBounded) {
    requireBoundedStructure(text);
    await freeMoment();
  }
  const value = parseJson(text, { isBounded: true });
  await freeMoment();
  return value;
}

/**
 * Creates what parses the JSON of requests that are small when they are answered: texts that are not small in turn, one
 * of each key.
 */
export function createJsonParser(): (text: string, keyId: string) => unknown {
  const turns = createFairTurns(maxMediumAtOnce);
  return (text, keyId) =>
    text.length <= smallBodyBytes ? parseJson(text) : turns.run(keyId, () => parseInTurns(text));
}

/** What may stand before a text, and is no part of it (Encoding, "UTF-8 decode"), as `Request.text` leaves it out. */
const byteOrderMark = /^\ufeff/;

/**
 * Reads a JSON text and checks its structure as it arrives, so that others have their turn between its parts, and that
 * nothing is kept of one that is out of bounds.
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
      // To decode megabytes that are not UTF-8 takes long.
      requireWholeText(part);
      requireBoundedStructure(part, faultOf);
    }
  } finally {
    clearTimeout(timer);
  }
}
