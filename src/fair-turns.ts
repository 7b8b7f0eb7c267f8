import { freeMoment } from './free-moment.ts';

/**
 * How long a work keeps its turn from others, in milliseconds. A work that takes longer waits for something else, such as
 * a location that is locked or a client that sends slowly, and goes on without keeping other names waiting.
 */
const maxTurnMs = 2_000;

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
 * Creates turns for one process. Between two works other requests have a moment.
 *
 * @param maxAtOnce how many works have a turn at once
 */
export function createFairTurns(maxAtOnce: number): FairTurns {
  /** What waits, by name; the first name is the next one. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();
  let turns = 0;

  function startNext(): void {
    for (const [name, works] of waiting) {
      if (turns >= maxAtOnce) return;
      if (running.has(name)) continue;
      const start = works.shift()!;
      waiting.delete(name);
      if (works.length > 0) waiting.set(name, works); // behind the others
      running.add(name);
      const giveTurnOn = takeTurn();
      void start().finally(async () => {
        if (waiting.size > 0) await freeMoment();
        running.delete(name);
        giveTurnOn();
      });
    }
  }

  /** @returns what gives the turn to the next work, at the end or when it has been kept too long */
  function takeTurn(): () => void {
    let hasTurn = true;
    turns += 1;
    const giveTurnOn = () => {
      clearTimeout(timer);
      if (hasTurn) turns -= 1;
      hasTurn = false;
      startNext();
    };
    const timer = setTimeout(giveTurnOn, maxTurnMs).unref();
    return giveTurnOn;
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
