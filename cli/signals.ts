type Stop = (signal: NodeJS.Signals) => void;

/** The functions that `pms` calls when the running command must stop. */
const stops = new Set<Stop>();

/**
 * Calls `stop` once: when the process gets its first SIGINT or SIGTERM, or when `stopCommand` is called. A second
 * SIGINT or SIGTERM ends the process immediately.
 *
 * @returns a function that removes the listeners for SIGINT and SIGTERM; after a call of this function, the next of
 *   these signals ends the process
 */
export function onFirstSignal(stop: Stop): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const ignore = () => signals.forEach((signal) => process.off(signal, first));
  const first = (signal: NodeJS.Signals) => {
    ignore();
    stopOnce(signal);
  };
  let isStopped = false;
  const stopOnce = (signal: NodeJS.Signals) => {
    if (isStopped) return;
    isStopped = true;
    stop(signal);
  };
  for (const signal of signals) process.on(signal, first);
  stops.add(stopOnce);
  return () => {
    ignore();
    stops.delete(stopOnce);
  };
}

/**
 * Stops the running command in the same way as the first SIGTERM. `pms` calls `stopCommand` when it can no longer write
 * its output, for example because the output pipe is closed. A single Ctrl-C can both close the output and send a
 * SIGINT to the process, and this SIGINT must not end the process. After a call of `stopCommand`, the process therefore
 * ignores the first SIGINT or SIGTERM. The second signal ends the process.
 *
 * @returns true if the command stops by itself; false if the caller must end the process
 */
export function stopCommand(): boolean {
  const isHandled = stops.size > 0;
  for (const stop of stops) stop('SIGTERM');
  return isHandled;
}
