/**
 * The maximum time between two chunks of bytes in an event stream, in milliseconds. The gateway sends a comment into
 * each open stream every 12 seconds. If the console misses three comments of a stream in a row, it treats the stream as
 * lost.
 */
export const maxSilenceMs = 40_000;

/** The interval at which the console checks whether a stream has sent no bytes for too long, in milliseconds. */
const checkPauseMs = 5_000;

/**
 * Sends a request as `fetch` does, but detects a lost connection while the caller reads the response body. If no bytes
 * arrive for longer than `maxSilenceMs`, reading the body fails. A connection can be lost without any signal, for
 * example when the server loses its power or when the device sleeps. `fetch` itself does not detect a lost connection.
 */
export async function fetchUntilSilent(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (!response.body) return response;
  let lastBytesAt = Date.now();
  let timer: ReturnType<typeof setInterval>;
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      timer = setInterval(() => {
        if (Date.now() - lastBytesAt < maxSilenceMs) return;
        clearInterval(timer);
        controller.error(new Error('The gateway sends nothing'));
      }, checkPauseMs);
    },
    transform(bytes, controller) {
      lastBytesAt = Date.now();
      controller.enqueue(bytes);
    },
    flush: () => clearInterval(timer),
  });
  return new Response(response.body.pipeThrough(watched), response);
}
