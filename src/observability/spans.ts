import {
  context,
  createTraceState,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

// A gateway process creates OpenTelemetry spans only if an operator has added an OpenTelemetry SDK to the process.
// Without an OpenTelemetry SDK, `activeTracer` returns `undefined`.

const tracerName = 'parking-gateway';

/** The request headers that contain the id of the parent span in another process (W3C Trace Context). */
export interface RemoteParent {
  traceparent: string | null | undefined;
  tracestate?: string | undefined;
}

/** Returns the tracer of the OpenTelemetry SDK, or `undefined` when no SDK is installed. */
export function activeTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(tracerName)
    : provider.getTracer(tracerName);
}

/**
 * Runs a function within an OpenTelemetry span. The span ends when the given function ends, and records whether this
 * function failed.
 *
 * @param parent the parent of the new span; the default is the active span of this process
 */
export async function inSpan<Result>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
  parent?: RemoteParent,
): Promise<Result> {
  const remote = parent && remoteContext(parent);
  const from = parent
    ? remote
      ? trace.setSpanContext(ROOT_CONTEXT, remote)
      : ROOT_CONTEXT
    : context.active();
  return tracer.startActiveSpan(name, options, from, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      // A span records the name of an error without its message, because the message may quote values that a client
      // sent.
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * Matches a valid `traceparent` header. A `traceparent` header consists of a version, a trace id, a span id and flags.
 * Later versions of the `traceparent` header may add more parts after the flags.
 */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * The maximum length of a `tracestate` header, in characters. The gateway ignores a longer `tracestate` header (W3C
 * Trace Context, 3.3.1.5).
 */
const maxTracestateLength = 512;

/**
 * Reads the headers `traceparent` and `tracestate` of a request. Returns `undefined` when the header `traceparent` is
 * missing or invalid (W3C Trace Context, 3.2).
 */
export function remoteContext({ traceparent, tracestate }: RemoteParent): SpanContext | undefined {
  const parts = traceparentForm.exec(traceparent ?? '');
  if (!parts) return undefined;
  const [, version, traceId, spanId, flags, more] = parts as unknown as string[];
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const remote: SpanContext = {
    traceId: traceId!,
    spanId: spanId!,
    traceFlags: Number.parseInt(flags!, 16) & 1,
    isRemote: true,
    ...(tracestate &&
      tracestate.length <= maxTracestateLength && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(remote) ? remote : undefined;
}

/** Returns the `traceparent` header of the active span, or null when no span is active. */
export function activeTraceparent(): string | null {
  if (!activeTracer()) return null;
  const active = trace.getActiveSpan()?.spanContext();
  if (!active || !isSpanContextValid(active)) return null;
  return `00-${active.traceId}-${active.spanId}-${active.traceFlags.toString(16).padStart(2, '0')}`;
}
