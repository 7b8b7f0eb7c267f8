import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Figure,
  inRandomOrder,
  maxPairs,
  measureUntilDecided,
  ratioOfPairs,
  spreadOf,
  verdictOf,
} from '../../bench/pairs.ts';
import { record, recordedCase, worseThanRecorded } from '../../bench/recorded.ts';
import type { CaseResult } from '../../bench/report.ts';

describe('the spread (confidence interval) of benchmark results', () => {
  // The first number in each row of the test table is the number of benchmark results. The other two numbers are the
  // positions of the lower and the upper bound of the confidence interval in the sorted results. The confidence
  // interval is the 95% interval of the sign test: https://en.wikipedia.org/wiki/Sign_test
  test.each([
    [3, 1, 3],
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [12, 3, 10],
    [20, 6, 15],
  ])(
    'the spread (confidence interval) of %i sorted benchmark results goes from the result at position %i to the result at position %i',
    (count, low, high) => {
      const values = Array.from({ length: count }, (_, place) => place + 1);
      expect(spreadOf(inRandomOrder(values))).toMatchObject({ low, high });
    },
  );

  test('the ratio between the two runs of a pair stays the same when both runs are slower by the same factor', () => {
    expect(ratioOfPairs([100, 50, 10], [50, 25, 5])).toEqual({ value: 2, low: 2, high: 2 });
  });
});

describe('goals of a benchmark', () => {
  test.each([
    ['met', { value: 1, low: 0.9, high: 1.1, least: 0.85 }],
    ['undecided', { value: 0.9, low: 0.8, high: 1.1, least: 0.85 }],
    ['missed', { value: 0.8, low: 0.7, high: 0.84, least: 0.85 }],
    ['met', { value: 1, low: 0.9, high: 1.1, most: 1.2 }],
    ['undecided', { value: 1, low: 0.9, high: 1.3, most: 1.2 }],
    ['missed', { value: 2, most: 1.2 }],
    ['met', { value: 200, least: 200, most: 200 }],
    [undefined, { value: 1, low: 0.9, high: 1.1 }],
  ])('the verdict of a benchmark is %s for the goal %j', (verdict, figure) => {
    expect(verdictOf(figure)).toBe(verdict);
  });
});

describe('number of pairs of runs that a benchmark measures', () => {
  /**
   * Runs a benchmark, and returns how many pairs of runs the benchmark measured. For each goal of the benchmark,
   * `decidedAt` contains the number of pairs of runs after which the verdict (met or missed) is clear.
   */
  async function pairsOf(range: { least: number; most: number }, ...decidedAt: number[]): Promise<number> {
    let pairs = 0;
    await measureUntilDecided(
      range,
      async () => {
        pairs += 1;
      },
      () =>
        decidedAt.map((wanted): Figure => {
          const low = pairs >= wanted ? 1 : 0.5;
          return { text: 'ratio', value: 1, low, high: 2, least: 0.9 };
        }),
    );
    return pairs;
  }

  test.each([
    ['the number of pairs stays at the minimum when every goal is clearly met or missed', [1, 9], 9],
    ['the number of pairs is the minimum for a benchmark without goals', [], 9],
    ['the number of pairs doubles until the last goal is clearly met or missed', [1, 10], 18],
    ['the number of pairs can double twice', [25], 36],
    ['the number of pairs stops at the maximum when a goal stays undecided', [Infinity], maxPairs],
  ])(
    'a benchmark repeats pairs of runs until each of its goals is clearly met or missed: %s',
    async (_, decidedAt, pairs) => {
      expect(await pairsOf({ least: 9, most: maxPairs }, ...decidedAt)).toBe(pairs);
    },
  );

  test('a benchmark measures at most 40 pairs of runs', () => expect(maxPairs).toBe(40));

  test('when the settings of a benchmark allow only one pair of runs, the benchmark measures one pair', async () => {
    expect(await pairsOf({ least: 1, most: 1 }, Infinity)).toBe(1);
  });

  test('while it is unclear whether a benchmark meets its goal, the benchmark doubles the number of pairs of runs', async () => {
    const ratios: number[] = [];
    const figures = (): Figure[] => [{ text: 'ratio', ...spreadOf(ratios), least: 1 }];
    await measureUntilDecided(
      { least: 3, most: maxPairs },
      async () => {
        ratios.push(ratios.length === 1 ? 1.1 : 0.9);
      },
      figures,
    );
    // The benchmark in this test measures one ratio for each pair of runs, and its goal is a ratio of at least 1. One
    // measured ratio meets the goal (1.1), and all other measured ratios miss the goal (0.9). After six measured
    // ratios, the confidence interval contains 0.9 and 1.1, so the benchmark cannot decide whether it meets its goal.
    // After 12 measured ratios, all values in the confidence interval are below 1, so the benchmark misses its goal.
    expect([ratios.length, verdictOf(figures()[0]!)]).toEqual([12, 'missed']);
  });
});

const resultOf = (ratio: number, p99: number): CaseResult => ({
  name: 'gate',
  title: 'Gate',
  sides: [],
  figures: [
    { text: 'requests/s to peer', value: ratio, low: ratio - 0.1, high: ratio + 0.1 },
    { text: 'p99 to peer', value: p99, low: p99 - 0.1, high: p99 + 0.1, most: 1 },
    { text: 'first byte', value: p99 },
  ],
});

describe('benchmarks that became slower', () => {
  test.each([
    [1.3, 0.8, []],
    [1.15, 0.95, []],
    [1.6, 0.5, []],
    [1.05, 0.8, ['gate: requests/s to peer 0.95 to 1.15, recorded 1.2 to 1.4']],
    [1.3, 1.1, ['gate: p99 to peer 1 to 1.2, recorded 0.7 to 0.9']],
  ])(
    'a benchmark result counts as worse than the recorded result only if the spreads of the two results do not overlap: ratio %d, p99 %d',
    (ratio, p99, lines) => {
      expect(worseThanRecorded(resultOf(ratio, p99), recordedCase(resultOf(1.3, 0.8)))).toEqual(lines);
    },
  );

  test('the benchmark reports a result as slower only if an earlier result is recorded', () => {
    expect(worseThanRecorded(resultOf(0.1, 9), undefined)).toEqual([]);
  });
});

describe('recorded benchmark figures', () => {
  const measured = { at: '2026-11-22', machine: 'two cores', database: 'PostgreSQL' };

  test('the record of a benchmark contains figures with three significant digits, the goals, and the verdict for each goal', () => {
    const figure = { text: 'requests/s to peer', value: 1.23456, low: 0.98765, high: 12.3456, least: 0.9 };
    expect(recordedCase({ ...resultOf(1, 1), figures: [figure] })).toEqual({
      title: 'Gate',
      figures: [{ ...figure, value: 1.23, low: 0.988, high: 12.3, verdict: 'met' }],
    });
  });

  test('a benchmark without measured figures is not recorded', () => {
    expect(recordedCase({ ...resultOf(1, 1), figures: [] })).toBeUndefined();
  });

  test('recording one benchmark keeps the figures of other benchmarks, and removes the figures of benchmarks that no longer exist', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-figures-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = pathToFileURL(join(folder, 'recorded.json'));
    const earlier = { ...measured, at: '2026-11-01', points: 1 };
    const before = { 'PostgreSQL and Redis': { gone: earlier, list: earlier, gate: earlier }, embedded: {} };
    await writeFile(file, JSON.stringify({ ...before, embedded: { gate: earlier } }));
    await record(
      file,
      { kind: 'PostgreSQL and Redis', measured, known: ['gate', 'list', 'new'] },
      { gate: { points: 2 } },
    );
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      'PostgreSQL and Redis': { gate: { ...measured, points: 2 }, list: earlier },
      embedded: { gate: earlier },
    });
  });
});
