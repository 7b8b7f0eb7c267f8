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

// The process creates spans only if an operator has added an OpenTelemetry SDK to it. Without an SDK, `activeTracer`
// returns undefined.

const tracerName = 'parking-gateway';

/** The headers that name a span in another process as the parent (W3C Trace Context). */
export interface RemoteParent {
  traceparent: string | null | undefined;
  tracestate?: string | undefined;
}

/** Returns the tracer of the OpenTelemetry SDK, or undefined without an SDK. */
export function activeTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(tracerName)
    : provider.getTracer(tracerName);
}

/**
 * Runs work within a span. The span ends when the work ends, and records whether the work failed.
 *
 * @param parent the parent span; by default the active span of this process
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
      // Only the name of the error is recorded. The message may quote values of a client.
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * The form of the header `traceparent`. It has a version, a trace id, a span id and flags. Later versions may add more
 * parts.
 */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The maximum length of a `tracestate` that is passed on, in characters (W3C Trace Context, 3.3.1.5). */
const maxTracestateLength = 512;

/**
 * Reads the trace headers of a request. The result is undefined when `traceparent` is missing or invalid (W3C Trace
 * Context, 3.2).
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
