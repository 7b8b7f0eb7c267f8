import type { TestGateway } from './harness.ts';

/** An open GraphQL subscription over server-sent events. */
export interface EventStream<Data> {
  response: Response;
  /** Waits for the next result of the subscription and returns it, or returns `undefined` at the end of the stream. */
  next(): Promise<{ data?: Data; errors?: unknown[] } | undefined>;
  cancel(): Promise<void>;
}

/** Opens a GraphQL subscription over server-sent events. */
export async function openEventStream<Data>(
  app: TestGateway['app'],
  { key, query, variables }: { key: string; query: string; variables: Record<string, unknown> },
): Promise<EventStream<Data>> {
  const response = await app.request('/graphql', {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ query, variables }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    async next() {
      for (;;) {
        const [, event, rest] = /^([\s\S]*?)\n\n([\s\S]*)$/.exec(text) ?? [];
        if (event !== undefined) {
          text = rest!;
          const [, data] = /^event: next\ndata: (.*)$/m.exec(event) ?? [];
          if (data) return JSON.parse(data);
          continue;
        }
        const { done, value } = await reader.read();
        if (done) return undefined;
        text += value;
      }
    },
    cancel: () => reader.cancel(),
  };
}
