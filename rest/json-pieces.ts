import type { Context } from '../src/context.ts';
import { DeferredJson } from '../src/scheduling/deferred-json.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';

/**
 * A part of a response, which is either JSON text or a large value. The gateway reads a large value from the database
 * only after it has sent the earlier parts of the same response.
 */
export type Piece = string | DeferredJson;

/**
 * The number of characters of JSON text that the gateway writes to a connection in one step. Before each step, the
 * gateway waits until the client has read the characters of the previous step.
 */
const charactersAtOnce = 64 * 1024;

/**
 * Converts a value to several pieces of JSON text. During the conversion to JSON, a placeholder takes the place of each
 * large value. The gateway reads each large value from the database only when it sends the part of the response that
 * contains the value. Each placeholder begins with the character U+0000. No value from the database contains U+0000,
 * because PostgreSQL cannot store this character.
 */
export function piecesOf(value: unknown): Piece[] {
  const deferred: DeferredJson[] = [];
  const json = JSON.stringify(value, (_, part: unknown) =>
    part instanceof DeferredJson ? `\0${deferred.push(part) - 1}` : part,
  );
  if (deferred.length === 0) return [json];
  return json.split(/"\\u0000(\d+)"/).map((text, index) => (index % 2 ? deferred[Number(text)]! : text));
}

const writeSlots = createSlots(slotLimits.largeValueWrites);

/**
 * Waits until no other request of the same API key is writing a large value to its connection. At any time, only one
 * request of each API key may write a large value to its connection.
 *
 * @returns a function that ends the wait of the next request: the caller must call this function when its own large
 *   value is written
 */
const takeWriteSlot = (keyId: string) =>
  new Promise<() => void>((begin) => {
    void writeSlots.run(keyId, () => new Promise<void>(begin));
  });

/**
 * Returns the index at which to split a text. The result is usually `index`. If a split at `index` would divide a
 * character of two UTF-16 code units, the result is `index + 1`.
 */
const endOfPart = (text: string, index: number) =>
  /[\ud800-\udbff]/.test(text.charAt(index - 1)) ? index + 1 : Math.min(index, text.length);

/**
 * Yields the bytes of a large JSON value in parts. The function converts each part of the JSON text to bytes only after
 * the client has read the part before it.
 */
async function* bytesOf(value: DeferredJson, context: Context): AsyncGenerator<Uint8Array> {
  const releaseSlot = await takeWriteSlot(context.key.id);
  let held = 0;
  try {
    const text = await value.read();
    held = Buffer.byteLength(text);
    context.holdBytes(held);
    for (let start = 0; start < text.length;) {
      const end = endOfPart(text, start + charactersAtOnce);
      const part = Buffer.from(text.slice(start, end));
      held -= part.length;
      context.holdBytes(-part.length);
      yield part;
      start = end;
    }
  } finally {
    context.holdBytes(-held);
    releaseSlot();
  }
}

/**
 * Writes the pieces of a response one after another, as fast as the client reads the response.
 *
 * @param breakOff a function that closes the client's connection after an error. The closed connection tells the client
 *   that the response is incomplete. `breakOff` returns false if there was no connection to close
 */
export function streamPieces(
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  context: Context,
  breakOff: (error: unknown) => boolean,
): ReadableStream<Uint8Array> {
  async function* parts(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      if (typeof piece === 'string') yield Buffer.from(piece);
      else yield* bytesOf(piece, context);
    }
  }
  const made = parts();
  let isRead = true;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await made.next();
          if (!isRead) return;
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (isRead && !breakOff(error)) controller.error(error);
        }
      },
      async cancel() {
        isRead = false;
        await made.return(undefined);
      },
    },
    // With `highWaterMark: 0`, the stream waits until the client is ready, and only then converts the next part of the
    // response to bytes.
    { highWaterMark: 0 },
  );
}

/**
 * Returns the body of a response: a stream if the response contains large values that are read later, and otherwise a
 * text.
 */
export function bodyOfPieces(
  pieces: readonly Piece[],
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  const texts = pieces.filter((piece) => typeof piece === 'string');
  return texts.length === pieces.length ? texts.join('') : streamPieces(pieces, context, breakOff);
}
