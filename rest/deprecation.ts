import type { Answer } from '../src/http/responses/response.ts';
import { errorAnswer } from './envelope.ts';
import { type Route, routeName, routes } from './routes.ts';

/**
 * A period in which deprecated REST routes are switched off (a brownout). While a deprecated route is switched off, a
 * request to this route gets an error, unless the client asks for the equivalent GraphQL request. Developers of clients
 * see these errors, and so learn that the route is deprecated.
 */
export interface Brownout {
  start: Date;
  /** The time at which the brownout ends, so that clients can use the deprecated routes again. */
  end: Date;
}

/**
 * The time at which the REST routes with `residents` in their path were deprecated (version 1.3.0). A release at or
 * after the time `removedAt` can remove these routes.
 */
const deprecatedAt = new Date('2025-09-03T00:00:00Z');
const removedAt = new Date('2027-06-30T00:00:00Z');

/** The address of the guide for replacing deprecated routes. A client needs no API key to read this guide. */
const guideAddress = '/reference#guide-moving-to-the-graph';

/**
 * Lists the deprecated REST routes. In each item of this list, `operation` is the name of the deprecated route in usage
 * records, and `replacement` is the new route. A release may remove the deprecated route at the time `removedAt` or
 * later.
 */
export const deprecatedOperations = routes.flatMap((route) =>
  route.successor
    ? [{ operation: routeName(route), removedAt, replacement: `${route.method} ${route.successor}` }]
    : [],
);

/**
 * Returns true if the URL may be the URL of a deprecated route, and otherwise false. The check is fast, because it does
 * not compare the URL with the path of each route. The function also returns true for some URLs that contain
 * `/residents` but are not deprecated.
 */
export const mayBeDeprecated = (url: string): boolean => url.includes('/residents');

/**
 * Returns the value that describes one brownout in the header `Brownout`: an ISO 8601 interval in quotation marks. A
 * string in a structured header field (RFC 9651) needs quotation marks.
 */
const interval = ({ start, end }: Brownout) => `"${start.toISOString()}/${end.toISOString()}"`;

/** The values of the path parameters of a REST request, with the parameter names as keys. */
type PathParameters = Readonly<Record<string, string>>;

/**
 * Two functions that create responses or parts of responses for a deprecated route. `headers` creates the headers that
 * only responses of deprecated routes have. While the deprecated route is switched off (a brownout), `brownoutAnswer`
 * creates the error response.
 */
interface Deprecation {
  headers(params: PathParameters): Record<string, string>;
  /**
   * Returns the error response if the deprecated route is switched off now, or `undefined` if the route is available.
   */
  brownoutAnswer(params: PathParameters): Answer | undefined;
}

/**
 * Creates the headers of a deprecated route: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` (RFC 8288), and
 * `Brownout`, a list of brownouts (RFC 9651). Returns `undefined` for a route that is not deprecated.
 */
export function createDeprecation(
  { method, path, successor }: Route,
  brownouts: readonly Brownout[],
): Deprecation | undefined {
  if (!successor) return undefined;
  const addressOf = (params: PathParameters) =>
    `/api${successor.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}`;

  return {
    headers(params) {
      const now = Date.now();
      const ahead = brownouts.filter(({ end }) => end.getTime() > now);
      return {
        Deprecation: `@${deprecatedAt.getTime() / 1000}`,
        Sunset: removedAt.toUTCString(),
        Link: `<${addressOf(params)}>; rel="successor-version", <${guideAddress}>; rel="deprecation"; type="text/html"`,
        ...(ahead.length > 0 && {
          Brownout: ahead.map(interval).join(', '),
        }),
      };
    },
    brownoutAnswer(params) {
      const now = Date.now();
      const current = brownouts.find(({ start, end }) => start.getTime() <= now && now < end.getTime());
      if (!current) return undefined;
      const message = `${method} /api${path} is deprecated and switched off until ${current.end.toISOString()}: use ${method} ${addressOf(params)}`;
      return errorAnswer({ code: 'NOT_FOUND', message }, 410);
    },
  };
}
