/**
 * Calls a function at the first SIGINT or SIGTERM. A second signal ends the process immediately.
 *
 * @returns a function that removes the listener, so that the next signal ends the process
 */
export function onFirstSignal(stop: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const ignore = () => signals.forEach((signal) => process.off(signal, first));
  const first = (signal: NodeJS.Signals) => {
    ignore();
    stop(signal);
  };
  for (const signal of signals) process.on(signal, first);
  return ignore;
}
