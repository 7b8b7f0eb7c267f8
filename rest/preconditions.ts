import { expectedVersionField, invalidField, type ServiceError } from '../src/errors/error-table.ts';

// This file implements preconditions (RFC 9110) for responses with one entry or location. The version of the entry or
// location is its entity tag.

/** The variable that `If-Match` sets, and the argument of the graph that it corresponds to. */
export const ifMatch = { header: 'If-Match', variable: expectedVersionField } as const;

/**
 * The status of a change whose `If-Match` does not match. Without `If-Match`, the error code `CONFLICT` has the status
 * 409.
 */
export const preconditionFailed = 412;

/** The form of any entity tag (RFC 9110, section 8.8.3). */
const entityTagForm = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/** The form of the entity tag of a version. The version has up to nine digits, so that it fits the graph's `Int`. */
const versionTagForm = /^"([1-9][0-9]{0,8})"$/;
/** A version that no row has, because versions start at 1. This version stands for tags that no response ever had. */
const noVersion = 0;

/** Returns the entity tag of a version. */
export const versionTag = (version: number) => `"${version}"`;

/**
 * Returns the version that a request expects, or null when the request accepts any version.
 *
 * @param header `If-Match` as sent: `*`, or one entity tag. A tag of another kind, such as a weak tag, matches no
 *   version.
 * @throws {ServiceError} `VALIDATION_ERROR` for any other text
 */
export function expectedVersion(header: string | undefined): number | null {
  const tag = header?.trim();
  if (tag === undefined || tag === '*') return null;
  if (!entityTagForm.test(tag)) {
    throw invalidField(ifMatch.header, 'Must be * or the ETag of an earlier answer, such as "3"', header);
  }
  return Number(versionTagForm.exec(tag)?.[1] ?? noVersion);
}

/** Whether an error means that the precondition of a request is not met. */
export const isFailedPrecondition = ({ code, details }: Pick<ServiceError, 'code' | 'details'>) =>
  code === 'CONFLICT' && details?.field === ifMatch.variable;
