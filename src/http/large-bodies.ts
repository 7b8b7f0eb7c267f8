import pLimit from 'p-limit';
import { ServiceError } from '../errors/error-table.ts';
import { parseJson } from './json.ts';

/** From how many bytes on a body is large: to read and parse it takes memory and time that others need. */
export const largeBodyBytes = 1024 * 1024;

/** How many large bodies may wait in a process: with 16 MiB each, what they hold stays bounded. */
const maxWaitingLargeBodies = 10;

/** How long a large body may take to arrive, so that a slow sender does not keep the others waiting. */
const largeBodyTimeoutMs = 30_000;

/** Reads and parses the JSON of a request. */
type BodyReader = (request: Request) => Promise<unknown>;

/**
 * Creates what reads the bodies of one process: large ones, and those of unknown length, one at a time.
 *
 * The reader throws `VALIDATION_ERROR` for a body that is not JSON within bounds, or that comes too slowly, and
 * `RATE_LIMIT_EXCEEDED` when too many large bodies wait.
 */
export function createBodyReader(): BodyReader {
  const inTurn = pLimit(1);
  return async (request) => {
    const { headers } = request;
    const isLarge = Number(headers.get('content-length') ?? 0) > largeBodyBytes;
    if (!isLarge && !headers.has('transfer-encoding')) return parseJson(await request.text());
    if (inTurn.pendingCount >= maxWaitingLargeBodies) {
      throw new ServiceError(
        'RATE_LIMIT_EXCEEDED',
        'Too many large requests are waiting, please try again later',
      );
    }
    return inTurn(async () => parseJson(await textInTime(request)));
  };
}

async function textInTime(request: Request): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ServiceError('VALIDATION_ERROR', 'Request body did not arrive in time')),
      largeBodyTimeoutMs,
    );
  });
  try {
    return await Promise.race([request.text(), tooSlow]);
  } finally {
    clearTimeout(timer);
  }
}
