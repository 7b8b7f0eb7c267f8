import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterEach, describe, expect, test } from 'vitest';
import { activeTracer, activeTraceparent, remoteContext } from '../../src/observability/spans.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { newSubscriber } = webhookTools(gateway);

const exporter = new InMemorySpanExporter();

/** Registers the OpenTelemetry SDK in the test process, as docs/observability.md describes. */
function addSdk() {
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
}

afterEach(() => {
  exporter.reset();
  trace.disable();
  context.disable();
  propagation.disable();
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

const spansOf = (id: string) =>
  exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === id);

describe('tracing with an OpenTelemetry SDK', () => {
  test('one trace contains the REST request, the GraphQL operation, the SQL statements and the webhook message', async () => {
    addSdk();
    const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
    const { status } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
      headers: { traceparent },
    });
    expect(status).toBe(201);
    const named = (name: string) => spansOf(traceId).find((span) => span.name === name);
    await expect.poll(() => named('webhook whitelist.created')).toBeDefined();
    expect(receiver.messages).toHaveLength(1);

    const request = named('rest POST /locations/{locationId}/whitelist')!;
    const operation = named('mutation createWhitelistEntry')!;
    const attempt = named('webhook whitelist.created')!;
    const statement = spansOf(traceId).find((span) =>
      span.attributes['db.query.text']?.toString().includes('"AuditRecord"'),
    )!;
    expect(request.parentSpanContext?.spanId).toBe(spanId);
    expect(request.kind).toBe(SpanKind.SERVER);
    expect(request.attributes['http.response.status_code']).toBe(201);
    expect(operation.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(statement.parentSpanContext?.spanId).toBe(operation.spanContext().spanId);
    expect(attempt.parentSpanContext?.spanId).toBe(operation.spanContext().spanId);
    expect(attempt.attributes['http.response.status_code']).toBe(204);
  });

  test('no span of a trace contains a value that a client sent', async () => {
    addSdk();
    const { key, locationId } = await gateway.newTenant();
    const entry = newEntry({ note: 'a note that nobody else reads' });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
    const recorded = JSON.stringify(
      exporter
        .getFinishedSpans()
        .map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    );
    expect(recorded).toContain('error.type');
    for (const value of [key, entry.note, entry.plateNumber]) expect(recorded).not.toContain(value);
  });

  test('a request without a valid traceparent header starts a new trace', async () => {
    addSdk();
    const key = await gateway.newKey();
    await gateway.graph('{ health { status } }', {
      key,
      headers: { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
    });
    const request = exporter.getFinishedSpans().find((span) => span.name === 'graphql query health')!;
    expect(request.parentSpanContext).toBeUndefined();
  });
});

describe('tracing without an OpenTelemetry SDK', () => {
  test('without an OpenTelemetry SDK, the gateway creates no span, and stores changes without a trace', async () => {
    expect(activeTracer()).toBeUndefined();
    expect(activeTraceparent()).toBeNull();
    const { key, locationId } = await gateway.newTenant();
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry(),
      headers: { traceparent },
    });
    const record = await gateway.database.prisma.auditRecord.findFirstOrThrow({ where: { locationId } });
    expect(record.traceparent).toBeNull();
  });
});

describe('traceparent headers', () => {
  test.each([
    ['version 00', traceparent, 1],
    ['a later version with additional fields', `cc-${traceId}-${spanId}-00-more`, 0],
  ])('the gateway accepts a traceparent header with %s', (_, header, traceFlags) => {
    expect(remoteContext({ traceparent: header })).toEqual({ traceId, spanId, traceFlags, isRemote: true });
  });

  test.each([
    ['a missing header', undefined],
    ['a forbidden version', `ff-${traceId}-${spanId}-01`],
    ['version 00 with more at its end', `${traceparent}-more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capital letters', traceparent.toUpperCase()],
    ['too few digits', `00-${traceId.slice(1)}-${spanId}-01`],
    ['text', 'trace'],
  ])('the gateway ignores the traceparent header: %s', (_, header) => {
    expect(remoteContext({ traceparent: header })).toBeUndefined();
  });
});
