/** The media types in which the gateway can send the result of a query or a mutation. */
export const resultTypes = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
] as const;

/** The media type in which the gateway sends the results of a subscription. */
export const eventStreamType = 'text/event-stream';

/**
 * Whether an Accept header allows one of the given media types (RFC 9110, section 12.5.1). The function reads the
 * header in the same way as GraphQL Yoga: it ignores q-values, and does not accept a charset other than UTF-8.
 *
 * @param accept the value of the header `Accept`; null if the request has no such header, and therefore accepts all
 *   media types
 */
export function allows(accept: string | null, mediaTypes: readonly string[]): boolean {
  const ranges = (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [allowed, ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') return false;
    return mediaTypes.some(
      (type) => allowed === type || allowed === '*/*' || allowed === `${type.split('/')[0]}/*`,
    );
  });
}
