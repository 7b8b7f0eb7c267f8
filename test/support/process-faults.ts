/** Starts to collect the uncaught exceptions and unhandled promise rejections of this process. */
export function collectProcessFaults(): { end: () => string[] } {
  const faults: string[] = [];
  const collect = (fault: unknown) => void faults.push(String(fault));
  process.on('uncaughtException', collect);
  process.on('unhandledRejection', collect);
  return {
    /** Stops collecting, and returns the collected exceptions and promise rejections as texts. */
    end() {
      process.off('uncaughtException', collect);
      process.off('unhandledRejection', collect);
      return faults;
    },
  };
}
