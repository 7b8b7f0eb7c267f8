import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { MiddlewareHandler } from 'hono';
import { activeTracer, inSpan } from '../../observability/spans.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * The lowest HTTP status of a server error. If the response has a server error, the tracing span of the request is
 * marked as failed. If the response has a client error (status 4xx), the tracing span is not marked as failed
 * (OpenTelemetry, HTTP).
 */
const lowestServerError = 500;

/**
 * Wraps a guard (a middleware that checks requests), so that each request runs within a tracing span. The tracing span
 * belongs to the trace whose id the client sends in the header `traceparent`.
 */
export function inRequestSpan(guard: MiddlewareHandler<GatewayEnv>): MiddlewareHandler<GatewayEnv> {
  return (c, next) => {
    const tracer = activeTracer();
    if (!tracer) return guard(c, next);
    const { method } = c.req;
    const options = {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'url.path': c.req.path },
    };
    const parent = { traceparent: c.req.header('traceparent'), tracestate: c.req.header('tracestate') };
    return inSpan(
      tracer,
      method,
      options,
      async (span) => {
        await guard(c, next);
        const { requestId, surface, operation, errorCode } = c.var.state;
        span.updateName(`${surface} ${operation}`);
        span.setAttributes({
          'http.response.status_code': c.res.status,
          'gateway.request.id': requestId,
          ...(errorCode && { 'error.type': errorCode }),
        });
        if (c.res.status >= lowestServerError) span.setStatus({ code: SpanStatusCode.ERROR });
      },
      parent,
    );
  };
}
