import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import type { Sql } from '../../src/database/types.ts';
import { createUsageRecorder } from '../../src/usage/recorder.ts';
import { newUsage } from '../support/usage.ts';

const query = vi.fn<(statement: unknown, values: string[][]) => Promise<[]>>(async () => []);
const logged = vi.fn<(line: string) => void>();
const recorder = createUsageRecorder({
  sql: { query } as Partial<Sql> as Sql,
  log: pino({ level: 'info' }, { write: logged }),
});

const idsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
const recordAll = (ids: string[]) =>
  ids.forEach((id) => recorder.record(newUsage({ apiKeyId: null, requestId: id })));
/**
 * Returns the recorder id and the batch number of each SQL statement that the usage recorder sent.
 */
const batches = () => query.mock.calls.map(([, values]) => [values[0], values[1]]);
/**
 * Returns one array for each SQL statement that the usage recorder sent: the request ids of the usage records in this
 * statement.
 */
const written = () => query.mock.calls.map(([, values]) => values[3]!);

afterEach(() => vi.clearAllMocks());

test('the usage recorder writes at most 500 usage records in one SQL statement, in the order of the requests', async () => {
  recordAll(idsFrom(1, 1200));
  await recorder.flush();
  expect(written().map((ids) => ids.length)).toEqual([500, 500, 200]);
  expect(written().flat()).toEqual(idsFrom(1, 1200));
});

test('when 500 usage records wait, which is the maximum for one SQL statement, the usage recorder writes them to the database immediately', async () => {
  recordAll(idsFrom(1, 500));
  await expect.poll(written).toEqual([idsFrom(1, 500)]);
});

test('when the database is unreachable, the usage recorder keeps its records, and sends the same batch again later', async () => {
  query.mockRejectedValueOnce(new Error('unreachable'));
  recordAll(idsFrom(1, 3));
  await recorder.flush();
  recordAll(idsFrom(4, 5));
  await recorder.flush();
  expect(written()).toEqual([idsFrom(1, 3), idsFrom(1, 3), idsFrom(4, 5)]);
  const [first, again, next] = batches();
  expect(again).toEqual(first);
  expect(next).toEqual([first![0], Number(first![1]) + 1]);
});

test('the usage recorder drops a usage record that the database refuses, and writes every other record exactly once', async () => {
  query.mockImplementation(async (_, values) => {
    if (values[3]!.includes('bad'))
      throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
    return [];
  });
  recordAll([...idsFrom(1, 30), 'bad', ...idsFrom(31, 700)]);
  await recorder.flush();
  const accepted = written().filter((ids) => !ids.includes('bad'));
  expect(accepted.flat()).toEqual(idsFrom(1, 700));
  expect(batches().length).toBeLessThan(60);
  const acceptedBatches = batches().filter((_, index) => !written()[index]!.includes('bad'));
  expect(new Set(acceptedBatches.map(String)).size).toBe(acceptedBatches.length);
  const lines = logged.mock.calls.filter(([line]) => line.includes('"requestId":"bad"'));
  expect(lines).toHaveLength(1);
  query.mockResolvedValue([]);
});

test('when more than 100,000 usage records wait, the recorder drops the oldest records and logs how many it dropped', async () => {
  query.mockRejectedValue(new Error('unreachable'));
  recordAll(idsFrom(1, 100_010));
  await recorder.flush();
  query.mockClear().mockResolvedValue([]);
  await recorder.flush();
  expect(written().flat()).toEqual(idsFrom(11, 100_010));
  expect(logged.mock.calls.filter(([line]) => line.includes('"lost":10,'))).toHaveLength(1);
});
