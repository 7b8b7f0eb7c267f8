import { expect, test } from 'vitest';
import { createRequestRecord } from '../../src/http/guard/request-record.ts';

test('a log line contains at most 200 characters of a GraphQL error path, because clients choose the names in the path', () => {
  const lines: Record<string, unknown>[] = [];
  type Arguments = Parameters<typeof createRequestRecord>;
  const record = createRequestRecord(
    {
      log: { info: (line: Record<string, unknown>) => lines.push(line) },
      metrics: { record: () => {} },
    } as unknown as Arguments[0],
    { countRefusal: () => {} },
  );
  const state = { requestId: 'id', surface: 'graphql', operation: 'query', errorPath: 'a'.repeat(100_000) };
  record(state as unknown as Parameters<typeof record>[0], { path: '/graphql', status: 200, elapsedMs: 1 });
  expect(lines).toEqual([expect.objectContaining({ errorPath: 'a'.repeat(200) })]);
});
