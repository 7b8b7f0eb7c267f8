import { buildSchema, type GraphQLSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { createGraphEndpoint } from '../../src/graphql/endpoint.ts';
import { createGraphExecutor, type GraphRequestContext } from '../../src/graphql/executor.ts';
import { compressed } from '../../src/http/responses/compression.ts';
import { streamPieces } from '../../rest/json-pieces.ts';
import { collectProcessFaults } from '../support/process-faults.ts';

/** An iterator that yields the values of a streamed response. The test decides when the iterator yields each value. */
class Source implements AsyncIterableIterator<string> {
  #values: (() => IteratorResult<string, undefined>)[] = [];
  #waiting: (() => void)[] = [];

  #add(value: () => IteratorResult<string, undefined>): void {
    this.#values.push(value);
    for (const go of this.#waiting.splice(0)) go();
  }

  emit = () => this.#add(() => ({ done: false, value: 'value' }));
  end = () => this.#add(() => ({ done: true, value: undefined }));
  fail = () =>
    this.#add(() => {
      throw new Error('the source failed');
    });

  async next(): Promise<IteratorResult<string, undefined>> {
    for (;;) {
      const value = this.#values.shift();
      if (value) return value();
      await new Promise<void>((go) => this.#waiting.push(go));
    }
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

interface SourceContext {
  source: Source;
}

/**
 * Creates a GraphQL schema with a subscription and a query. The GraphQL context contains a `Source` iterator. The
 * subscription sends every value of this iterator, and the query returns only its first value.
 */
function createSourceSchema(): GraphQLSchema {
  const schema = buildSchema('type Query { value: String } type Subscription { value: String }');
  schema.getQueryType()!.getFields().value!.resolve = async (_parent, _args, { source }: SourceContext) =>
    (await source.next()).value;
  const { value } = schema.getSubscriptionType()!.getFields();
  value!.subscribe = (_parent, _args, { source }: SourceContext) => source;
  value!.resolve = (text) => text as string;
  return schema;
}

const schema = createSourceSchema();
const endpoint = createGraphEndpoint(schema, createGraphExecutor(schema), {
  countSubscription: () => {},
  countError: () => {},
});

const context = {
  key: { id: 'key', permissions: new Set() },
  holdBytes: () => {},
  reauthenticate: () => Promise.resolve(),
  onKeysChanged: () => () => {},
  stopping: new AbortController().signal,
  state: {},
  log: { info: () => {}, error: () => {} },
  charge: () => Promise.resolve(),
} as unknown as GraphRequestContext & Context;

/** Runs a GraphQL operation whose result comes from `source`, and returns the response. */
function graphResponse(source: Source, query: string, accept: string): Promise<Response> {
  const request = new Request('http://gateway/graphql', {
    method: 'POST',
    headers: { Accept: accept, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return endpoint.handle(
    request,
    { ...context, source } as typeof context,
    ({ body }) => new Response(body as string),
  );
}

const wholeList = (source: Source) => streamPieces(source, context, () => false);

/**
 * Each function in `kinds` creates one kind of streamed response with the values of a `Source` iterator. The gateway
 * sends the first part of a streamed response before the last part exists.
 */
const kinds: Record<string, (source: Source) => Response | Promise<Response>> = {
  'an event stream': (source) => graphResponse(source, 'subscription { value }', 'text/event-stream'),
  'incremental parts': (source) => graphResponse(source, '{ value }', 'multipart/mixed'),
  'a whole list': (source) => new Response(wholeList(source)),
  'a whole list in gzip': (source) => new Response(compressed(wholeList(source), 'gzip', () => {})),
  'a whole list in Brotli': (source) => new Response(compressed(wholeList(source), 'br', () => {})),
};

/**
 * The longest pause between two steps of a test case, in microtasks. A value of the `Source` iterator reaches the
 * response within this time, so longer pauses would test nothing new.
 */
const maxMicrotasks = 20;

const microtasks = (count: number) => async () => {
  for (let passed = 0; passed < count; passed += 1) await undefined;
};
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const atOnce = microtasks(0);

/** Merges two lists of steps in every possible way that keeps the order inside each list. */
function interleavings<Step>(left: readonly Step[], right: readonly Step[]): Step[][] {
  const [[first, ...others], [second, ...rest]] = [left, right];
  if (first === undefined) return [[...right]];
  if (second === undefined) return [[...left]];
  return [
    ...interleavings(others, right).map((steps) => [first, ...steps]),
    ...interleavings(left, rest).map((steps) => [second, ...steps]),
  ];
}

/**
 * Generates lists of pauses, with one pause for each step of a test case. A pause lasts for one iteration of the event
 * loop, for no time, or for 1 to `maxMicrotasks` microtasks. At most one pause of each list lasts for microtasks.
 */
function* pausesAfter(steps: number): Generator<(() => Promise<void>)[]> {
  for (let others = 0; others < 2 ** steps; others += 1) {
    const pauses = Array.from({ length: steps }, (_, index) => ((others >> index) % 2 ? nextTurn : atOnce));
    yield pauses;
    for (const [index, pause] of pauses.entries()) {
      if (pause === nextTurn) continue;
      for (let count = 1; count <= maxMicrotasks; count += 1) yield pauses.with(index, microtasks(count));
    }
  }
}

type Step = 'emit' | 'end' | 'fail' | 'read' | 'cancel';

/**
 * The test cases. Each test case has two lists of steps. The first list of a test case contains the steps of the data
 * source (the `Source` iterator), such as `emit`. The second list contains the steps of the client that reads the
 * response, such as `cancel`. The client either disconnects at once, or reads some bytes before it disconnects.
 */
const orders: [Step[], Step[]][] = [
  [[], ['cancel']],
  [[], ['read', 'read', 'cancel']],
  [['end'], ['cancel']],
  [['end'], ['read', 'read', 'cancel']],
  [['fail'], ['cancel']],
  [['fail'], ['read', 'read', 'cancel']],
  [
    ['emit', 'end'],
    ['read', 'cancel'],
  ],
];

describe.each(Object.entries(kinds))('a streamed response whose client disconnects: %s', (kind, open) => {
  test.each(orders)(
    'a streamed response causes no uncaught error after the steps %j of its data source and the steps %j of its client',
    async (source, reader) => {
      const faults = collectProcessFaults();
      for (const steps of interleavings(source, reader)) {
        for (const pauses of pausesAfter(steps.length - 1)) await run(steps, pauses);
      }
      await nextTurn();
      expect(faults.end()).toEqual([]);
    },
  );

  async function run(steps: Step[], pauses: (() => Promise<void>)[]): Promise<void> {
    const source = new Source();
    // The gateway starts a response with incremental parts only after the `Source` iterator has yielded its first
    // value.
    if (kind === 'incremental parts') source.emit();
    const opened = await open(source);
    // The test creates a new response around the stream. Middleware for CORS does the same when it changes the response
    // headers.
    const body = new Response(opened.body, opened).body!.getReader();
    const act: Record<Step, () => void> = {
      emit: source.emit,
      end: source.end,
      fail: source.fail,
      read: () => void body.read().catch(() => undefined),
      cancel: () => void body.cancel().catch(() => undefined),
    };
    for (const [index, step] of steps.entries()) {
      act[step]();
      await pauses[index]?.();
    }
    await nextTurn();
  }
});

test('the gateway reports no failure of a streamed list when the client disconnects', async () => {
  const failures: unknown[] = [];
  const source = new Source();
  const body = streamPieces(source, context, (error) => failures.push(error) > 0).getReader();
  const read = body.read();
  await nextTurn();
  const cancelled = body.cancel();
  source.emit();
  await Promise.all([read, cancelled]);
  expect(failures).toEqual([]);
});

test('when the data source of an event stream fails, the stream ends with an error that hides the cause', async () => {
  const source = new Source();
  const response = await graphResponse(source, 'subscription { value }', 'text/event-stream');
  source.fail();
  const text = await response.text();
  expect(text).toContain('"code":"INTERNAL_ERROR"');
  expect(text).not.toContain('the source failed');
  expect(text).toMatch(/event: complete\ndata:\n\n$/);
});
