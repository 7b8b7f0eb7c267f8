import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import type { Sql } from '../src/database/types.ts';
import { createUsageRecorder, type Usage } from '../src/usage/recorder.ts';

const query = vi.fn<(statement: unknown, values: string[][]) => Promise<[]>>(async () => []);
const logged = vi.fn<(line: string) => void>();
const recorder = createUsageRecorder({
  sql: { query } as Partial<Sql> as Sql,
  log: pino({ level: 'info' }, { write: logged }),
});

const use = (requestId: string): Usage => ({
  apiKeyId: null,
  requestId,
  surface: 'rest',
  operation: 'GET /health',
  status: 200,
  errorCode: null,
  durationMs: 1,
  address: 'test',
  createdAt: new Date(),
});
const idsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
const recordAll = (ids: string[]) => ids.forEach((id) => recorder.record(use(id)));
/** The recorder and the number of each batch. */
const batches = () => query.mock.calls.map(([, values]) => [values[0], values[1]]);
/** The request ids that each statement was given. */
const written = () => query.mock.calls.map(([, values]) => values[3]!);

afterEach(() => vi.clearAllMocks());

test('usage is written in statements of 500 records at most, in the order of its requests', async () => {
  recordAll(idsFrom(1, 1200));
  await recorder.flush();
  expect(written().map((ids) => ids.length)).toEqual([500, 500, 200]);
  expect(written().flat()).toEqual(idsFrom(1, 1200));
});

test('usage is written at once when there is enough for a statement', async () => {
  recordAll(idsFrom(1, 500));
  await expect.poll(written).toEqual([idsFrom(1, 500)]);
});

test('usage waits while the database is away, and a batch is sent again as the batch that it was', async () => {
  query.mockRejectedValueOnce(new Error('away'));
  recordAll(idsFrom(1, 3));
  await recorder.flush();
  recordAll(idsFrom(4, 5));
  await recorder.flush();
  expect(written()).toEqual([idsFrom(1, 3), idsFrom(1, 3), idsFrom(4, 5)]);
  const [first, again, next] = batches();
  expect(again).toEqual(first);
  expect(next).toEqual([first![0], Number(first![1]) + 1]);
});

test('of more than 100,000 waiting records the oldest go, and the log says how many', async () => {
  query.mockRejectedValue(new Error('away'));
  recordAll(idsFrom(1, 100_010));
  await recorder.flush();
  query.mockClear().mockResolvedValue([]);
  await recorder.flush();
  expect(written().flat()).toEqual(idsFrom(11, 100_010));
  expect(logged.mock.calls.filter(([line]) => line.includes('"lost":10,'))).toHaveLength(1);
});
