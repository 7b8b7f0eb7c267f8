import type { Answer } from '../src/http/responses/response.ts';
import { errorAnswer } from './envelope.ts';
import { type RestRequest, type Route, routeName, routes } from './routes.ts';

/**
 * A period in which deprecated REST routes are switched off (a brownout). Clients that still use these routes then
 * notice it.
 */
export interface Brownout {
  start: Date;
  /** The end of the period. At this instant the routes are available again. */
  end: Date;
}

/** When the resident routes were deprecated (version 1.3.0). At `sunsetAt` or later, a release can remove them. */
const deprecatedAt = new Date('2025-09-03T00:00:00Z');
const removedAt = new Date('2027-06-30T00:00:00Z');

/** The address of the guide for replacing deprecated routes. It requires no API key. */
const guideAddress = '/reference#guide-moving-to-the-graph';

/** The deprecated routes in the endpoint table, with their names in usage records and their replacements. */
export const deprecatedOperations = routes.flatMap((route) =>
  route.successor
    ? [{ operation: routeName(route), removedAt, replacement: `${route.method} ${route.successor}` }]
    : [],
);

/**
 * Returns a period in the form of a header value: `"start/end"`, an interval of ISO 8601 as a string of a structured
 * field (RFC 9651).
 */
const interval = ({ start, end }: Brownout) => `"${start.toISOString()}/${end.toISOString()}"`;

/** The additional headers and responses of a deprecated route. */
interface Deprecation {
  headers(request: RestRequest): Record<string, string>;
  /** Returns the response of the route while it is switched off, and undefined at all other times. */
  brownoutAnswer(request: RestRequest): Answer | undefined;
}

/**
 * Creates the headers of a deprecated route: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` (RFC 8288), and
 * `Brownout`, a list of periods (RFC 9651). The result is undefined for a route that is not deprecated.
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
