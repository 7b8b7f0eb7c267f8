/** Works that wait for each other: so many at once, and one of each name. */
export interface FairTurns {
  /**
   * Runs a work when it is its turn.
   *
   * @param name whose work it is: names take turns, so that who asks for much waits behind who asks for little
   */
  run<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** How many works of a name wait. */
  waiting(name: string): number;
}

/**
 * Creates turns for one process.
 *
 * @param maxAtOnce how many works run at once
 */
export function createFairTurns(maxAtOnce: number): FairTurns {
  /** What waits, by name; the first name is the next one. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();

  function startNext(): void {
    for (const [name, works] of waiting) {
      if (running.size >= maxAtOnce) return;
      if (running.has(name)) continue;
      const start = works.shift()!;
      waiting.delete(name);
      if (works.length > 0) waiting.set(name, works); // behind the others
      running.add(name);
      void start().finally(() => {
        running.delete(name);
        startNext();
      });
    }
  }

  return {
    run: <Result>(name: string, work: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        const works = waiting.get(name) ?? [];
        works.push(() => work().then(resolve, reject));
        waiting.set(name, works);
        startNext();
      }),
    waiting: (name) => waiting.get(name)?.length ?? 0,
  };
}
