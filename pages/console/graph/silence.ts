/**
 * The maximum time between two chunks of bytes in an event stream, in milliseconds. After 40 seconds without bytes, the
 * console treats the stream as lost. The gateway sends a comment into each open stream every 12 seconds, so 40 seconds
 * without bytes mean that three comments in a row are missing.
 */
export const maxSilenceMs = 40_000;

/** The interval at which the console checks whether a stream has sent no bytes for too long, in milliseconds. */
const checkPauseMs = 5_000;

/**
 * Sends a request like `fetch`, but reading the response body fails when no bytes arrive for longer than
 * `maxSilenceMs`, for example because the server lost its power or the device was asleep. `fetch` itself would not
 * notice that the connection is lost.
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
