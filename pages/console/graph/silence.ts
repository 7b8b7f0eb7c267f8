/**
 * The time without any bytes after which the console gives up a stream, in milliseconds. The gateway sends a comment
 * into each open stream every 12 seconds, so three comments in a row are missing.
 */
export const maxSilenceMs = 40_000;

/** How often the console compares the time since the last bytes with the maximum, in milliseconds. */
const checkPauseMs = 5_000;

/**
 * Sends a request like `fetch`. The body of the response fails when the server sends no bytes for too long, for example
 * because the server lost its power or the device was asleep. Without this limit, the browser would not notice the loss.
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
