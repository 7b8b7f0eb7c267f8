import { describe, expect, test } from 'vitest';
import { inRandomOrder, ratioOfPairs, spreadOf, verdictOf } from '../bench/pairs.ts';
import { worseThanRecorded } from '../bench/recorded.ts';
import type { CaseResult } from '../bench/report.ts';

describe('the spread of a figure', () => {
  // Bounds of the sign test at 95%: https://en.wikipedia.org/wiki/Sign_test
  test.each([
    [3, 1, 3],
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [12, 3, 10],
    [20, 6, 15],
  ])('of %i values lies between the one in place %i and the one in place %i', (count, low, high) => {
    const values = Array.from({ length: count }, (_, place) => place + 1);
    expect(spreadOf(inRandomOrder(values))).toMatchObject({ low, high });
  });

  test('is that of the ratios of each pair: what slows both sides down leaves it alone', () => {
    expect(ratioOfPairs([100, 50, 10], [50, 25, 5])).toEqual({ value: 2, low: 2, high: 2 });
  });
});

describe('a goal', () => {
  test.each([
    ['met', { value: 1, low: 0.9, high: 1.1, least: 0.85 }],
    ['undecided', { value: 0.9, low: 0.8, high: 1.1, least: 0.85 }],
    ['missed', { value: 0.8, low: 0.7, high: 0.84, least: 0.85 }],
    ['met', { value: 1, low: 0.9, high: 1.1, most: 1.2 }],
    ['undecided', { value: 1, low: 0.9, high: 1.3, most: 1.2 }],
    ['missed', { value: 2, most: 1.2 }],
    ['met', { value: 200, least: 200, most: 200 }],
  ])('is %s by %j', (verdict, figure) => {
    expect(verdictOf(figure)).toBe(verdict);
  });
});

describe('a case that became worse', () => {
  const recorded = {
    at: '',
    machine: '',
    figures: {
      gate: {
        'requests per second to peer': { value: 1.3, low: 1.2, high: 1.4, better: 'higher' as const },
        'p99 to peer': { value: 0.8, low: 0.7, high: 0.9, better: 'lower' as const },
      },
    },
  };
  const result = (ratio: number, p99: number): CaseResult => ({
    name: 'gate',
    title: 'Gate',
    sides: [],
    ratio: { value: ratio, low: ratio - 0.1, high: ratio + 0.1 },
    goals: [{ text: 'p99 to peer', value: p99, low: p99 - 0.1, high: p99 + 0.1, most: 1 }],
  });

  test.each([
    [1.3, 0.8, []],
    [1.15, 0.95, []],
    [1.6, 0.5, []],
    [1.05, 0.8, ['gate: requests per second to peer 0.95 to 1.15, recorded 1.2 to 1.4']],
    [1.3, 1.1, ['gate: p99 to peer 1 to 1.2, recorded 0.7 to 0.9']],
  ])('is named when its spread no longer touches the recorded one: %d, %d', (ratio, p99, lines) => {
    expect(worseThanRecorded(result(ratio, p99), recorded)).toEqual(lines);
  });

  test('is not named when nothing was recorded', () => {
    expect(worseThanRecorded({ ...result(0.1, 9), name: 'new' }, recorded)).toEqual([]);
  });
});
