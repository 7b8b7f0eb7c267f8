import { expectedVersionField, invalidField, type ServiceError } from '../src/errors/error-table.ts';

// Preconditions (RFC 9110) for responses with one entry or location. The entity tag is its version.

/** The variable that `If-Match` sets, and the argument of the graph that it corresponds to. */
export const ifMatch = { header: 'If-Match', variable: expectedVersionField } as const;

/**
 * The status of a change whose `If-Match` does not match. Without `If-Match` the code `CONFLICT` has the status 409.
 */
export const preconditionFailed = 412;

/** Any entity tag (RFC 9110, section 8.8.3). */
const entityTagForm = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/** The tag of a version: up to nine digits, so that it fits the graph's `Int`. */
const versionTagForm = /^"([1-9][0-9]{0,8})"$/;
/** A version that no row has, for tags that no response ever had. Versions start at 1. */
const noVersion = 0;

/** The entity tag of a version. */
export const versionTag = (version: number) => `"${version}"`;

/**
 * The version that a request expects; null when it accepts any.
 *
 * @param header `If-Match` as sent: `*`, or one entity tag. A tag of another kind, such as a weak one, matches nothing.
 * @throws {ServiceError} `VALIDATION_ERROR` for anything else
 */
export function expectedVersion(header: string | undefined): number | null {
  const tag = header?.trim();
  if (tag === undefined || tag === '*') return null;
  if (!entityTagForm.test(tag)) {
    throw invalidField(ifMatch.header, 'Must be * or the ETag of an earlier answer, such as "3"', header);
  }
  return Number(versionTagForm.exec(tag)?.[1] ?? noVersion);
}

/** Whether an error means that the precondition of a request does not hold. */
export const isFailedPrecondition = ({ code, details }: Pick<ServiceError, 'code' | 'details'>) =>
  code === 'CONFLICT' && details?.field === ifMatch.variable;
