type Stop = (signal: NodeJS.Signals) => void;

/** The functions that stop the running command, and that the command has not yet removed. */
const stops = new Set<Stop>();

/**
 * Calls a function when the process gets its first SIGINT or SIGTERM, or when `stopCommand` is called. The function is
 * called only once. A second SIGINT or SIGTERM ends the process immediately.
 *
 * @returns a function that removes the signal listeners, so that the next SIGINT or SIGTERM ends the process
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
 * Stops the running command in the same way as its first SIGTERM. A SIGINT or SIGTERM afterwards counts as the first
 * one, because Ctrl-C may end the program that reads the output before the SIGINT of the same Ctrl-C arrives.
 *
 * @returns whether the command handles signals, so that it stops, or has stopped, by itself
 */
export function stopCommand(): boolean {
  const isHandled = stops.size > 0;
  for (const stop of stops) stop('SIGTERM');
  return isHandled;
}
