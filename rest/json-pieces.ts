import type { Context } from '../src/context.ts';
import { DeferredJson } from '../src/deferred-json.ts';
import { createFairTurns } from '../src/fair-turns.ts';

/** A part of an answer: JSON, or a value that is read when its place is reached. */
export type Piece = string | DeferredJson;

/** Characters that are handed to the connection at once: the rest waits until the client has taken them. */
const charactersAtOnce = 64 * 1024;

/**
 * The JSON of a value in pieces.
 *
 * What is deferred is marked with U+0000, which no text of the database can hold.
 */
export function piecesOf(value: unknown): Piece[] {
  const deferred: DeferredJson[] = [];
  const json = JSON.stringify(value, (_, part: unknown) =>
    part instanceof DeferredJson ? `\0${deferred.push(part) - 1}` : part,
  );
  if (deferred.length === 0) return [json];
  return json.split(/"\\u0000(\d+)"/).map((text, index) => (index % 2 ? deferred[Number(text)]! : text));
}

/** Large values that are written: one of each key at a time, however many of its requests are answered. */
const writingTurns = createFairTurns(Number.POSITIVE_INFINITY);

/** Waits until no other request of a key writes a large value. @returns what lets the next one begin */
const turnToWrite = (keyId: string) =>
  new Promise<() => void>((begin) => {
    void writingTurns.run(keyId, () => new Promise<void>(begin));
  });

/** Where a part of a text ends that should end at an index: not within a character of two code units. */
const endOfPart = (text: string, index: number) =>
  /[\ud800-\udbff]/.test(text.charAt(index - 1)) ? index + 1 : Math.min(index, text.length);

/** The bytes of a large value, each part of them when the client has taken the one before. */
async function* bytesOf(value: DeferredJson, context: Context): AsyncGenerator<Uint8Array> {
  const giveTurnOn = await turnToWrite(context.key.id);
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
    giveTurnOn();
  }
}

/**
 * Writes an answer piece by piece, as fast as the client reads.
 *
 * @param breakOff is told why a piece could not be made, and cuts the connection: the server would end the answer as if
 *   it were complete. Returns whether there was one.
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
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await made.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (!breakOff(error)) controller.error(error);
        }
      },
      cancel: async () => void (await made.return(undefined)),
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}

/** The body of an answer: a text, or a stream when a part of it is deferred. */
export function bodyOfPieces(
  pieces: readonly Piece[],
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  const texts = pieces.filter((piece) => typeof piece === 'string');
  return texts.length === pieces.length ? texts.join('') : streamPieces(pieces, context, breakOff);
}
