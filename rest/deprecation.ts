import type { Answer } from '../src/http/response.ts';
import { errorAnswer } from './envelope.ts';
import { type RestRequest, type Route, routeName, routes } from './routes.ts';

/** A time in which deprecated routes are switched off, to find out who still needs them. */
export interface Brownout {
  start: Date;
  /** No longer in it. */
  end: Date;
}

/** When the resident routes were deprecated (version 1.3.0), and when they may be removed. */
const deprecatedAt = new Date('2025-09-03T00:00:00Z');
const removedAt = new Date('2027-06-30T00:00:00Z');

/** Where the reference says what to use in place of deprecated routes. It needs no key. */
const guideAddress = '/reference#guide-moving-to-the-graph';

/** The deprecated rows of the endpoint table, as usage records name them, with what replaces them. */
export const deprecatedOperations = routes.flatMap((route) =>
  route.successor
    ? [{ operation: routeName(route), removedAt, replacement: `${route.method} ${route.successor}` }]
    : [],
);

/** A time as a string of a structured field (RFC 9651): `"start/end"`, an interval of ISO 8601. */
const interval = ({ start, end }: Brownout) => `"${start.toISOString()}/${end.toISOString()}"`;

/** What the answers of a deprecated route have besides. */
interface Deprecation {
  headers(request: RestRequest): Record<string, string>;
  /** The answer of the route while it is switched off; undefined at other times. */
  brownoutAnswer(request: RestRequest): Answer | undefined;
}

/**
 * Creates what says that a route is deprecated: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` (RFC 8288) and
 * `Brownout`, a list of times (RFC 9651). Undefined for all other routes.
 */
export function createDeprecation(
  { method, path, successor }: Route,
  brownouts: readonly Brownout[],
): Deprecation | undefined {
  if (!successor) return undefined;
  const addressOf = ({ params }: RestRequest) =>
    `/api${successor.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}`;

  return {
    headers(request) {
      const now = Date.now();
      const ahead = brownouts.filter(({ end }) => end.getTime() > now);
      return {
        Deprecation: `@${deprecatedAt.getTime() / 1000}`,
        Sunset: removedAt.toUTCString(),
        Link: `<${addressOf(request)}>; rel="successor-version", <${guideAddress}>; rel="deprecation"; type="text/html"`,
        ...(ahead.length > 0 && {
          Brownout: ahead.map(interval).join(', '),
        }),
      };
    },
    brownoutAnswer(request) {
      const now = Date.now();
      const current = brownouts.find(({ start, end }) => start.getTime() <= now && now < end.getTime());
      if (!current) return undefined;
      const message = `${method} /api${path} is deprecated and switched off until ${current.end.toISOString()}: use ${method} ${addressOf(request)}`;
      return errorAnswer({ code: 'NOT_FOUND', message }, 410);
    },
  };
}
