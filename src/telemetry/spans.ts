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

// Spans for whoever adds an SDK of OpenTelemetry to the process. Without one nothing is made: a caller asks for
// `activeTracer` and goes on without a span.

const tracerName = 'parking-gateway';

/** Where a span belongs that another process has begun (W3C Trace Context). */
export interface RemoteParent {
  traceparent: string | null | undefined;
  tracestate?: string | undefined;
}

/** The tracer of the SDK that was added; undefined when there is none. */
export function activeTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(tracerName)
    : provider.getTracer(tracerName);
}

/**
 * Does work within a span, which ends with the work and says whether it failed.
 *
 * @param parent the span is a child of; without one, of the span that is active here
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
      // The message may quote values of a client, which are never recorded.
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The version, the trace, the span and the flags; later versions may have more. */
const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The longest list of vendors that is passed on, in characters (W3C Trace Context, 3.3.1.5). */
const maxTracestateLength = 512;

/** Reads the headers of a trace; undefined when `traceparent` is missing or breaks the rules (section 3.2). */
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

/** The `traceparent` of the span that is active here; null when there is none. */
export function activeTraceparent(): string | null {
  if (!activeTracer()) return null;
  const active = trace.getActiveSpan()?.spanContext();
  if (!active || !isSpanContextValid(active)) return null;
  return `00-${active.traceId}-${active.spanId}-${active.traceFlags.toString(16).padStart(2, '0')}`;
}
