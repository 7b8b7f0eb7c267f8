import type { Context } from '../src/context.ts';
import { DeferredJson } from '../src/scheduling/deferred-json.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';

/**
 * A part of a response, which is either JSON text or a large value. A large value is read only when its place in the
 * response is reached.
 */
export type Piece = string | DeferredJson;

/**
 * How many characters are passed to the connection in one step. The next step follows when the client has read them.
 */
const charactersAtOnce = 64 * 1024;

/**
 * Converts a value to JSON text in pieces. In the text, the character U+0000 marks the place of a large value that is
 * read later. The database cannot store this character, so it cannot occur otherwise.
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
 * Waits until no other request of the same API key writes a large value.
 *
 * @returns a function that releases the slot
 */
const takeWriteSlot = (keyId: string) =>
  new Promise<() => void>((begin) => {
    void writeSlots.run(keyId, () => new Promise<void>(begin));
  });

/** Returns the end of a part of a text. If the part would split a character of two code units, the end moves by one. */
const endOfPart = (text: string, index: number) =>
  /[\ud800-\udbff]/.test(text.charAt(index - 1)) ? index + 1 : Math.min(index, text.length);

/** Yields a large value as bytes. Each part is encoded after the client has read the previous part. */
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
 * Writes a response piece by piece, as fast as the client reads it.
 *
 * @param breakOff receives the error of a failed piece and closes the connection, because the server would otherwise
 *   end the response as if it were complete. Returns whether there was a connection.
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
    // The stream converts a piece to bytes only when the client reads it.
    { highWaterMark: 0 },
  );
}

/** Returns the body of a response. The body is a stream if some values are read later, and otherwise a text. */
export function bodyOfPieces(
  pieces: readonly Piece[],
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  const texts = pieces.filter((piece) => typeof piece === 'string');
  return texts.length === pieces.length ? texts.join('') : streamPieces(pieces, context, breakOff);
}
