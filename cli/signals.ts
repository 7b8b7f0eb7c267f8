/**
 * Calls a function when the process gets its first SIGINT or SIGTERM. A second SIGINT or SIGTERM ends the process
 * immediately.
 *
 * @returns a function that removes the signal listeners, so that the next SIGINT or SIGTERM ends the process
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
