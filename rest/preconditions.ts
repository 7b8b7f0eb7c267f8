import { expectedVersionField, invalidField, type ServiceError } from '../src/errors/error-table.ts';

// This file implements conditional requests (RFC 9110) for responses with a single entry or location. The entity tag of
// such a response is the version of the entry or location.

/** The request header `If-Match`, with the argument of the graph that has the same meaning. */
export const ifMatch = { header: 'If-Match', variable: expectedVersionField } as const;

/**
 * The status when the version in `If-Match` is not the current version. In all other cases, `CONFLICT` has the status
 * 409.
 */
export const preconditionFailed = 412;

/** The form of an entity tag (RFC 9110, section 8.8.3). */
const entityTagForm = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/**
 * The form of an entity tag with a version. The version has at most nine digits, so that it fits the type `Int` of the
 * graph.
 */
const versionTagForm = /^"([1-9][0-9]{0,8})"$/;
/** A version that never exists, because versions start at 1. It is used for entity tags that the gateway never sent. */
const noVersion = 0;

/** Returns the entity tag for a version. */
export const versionTag = (version: number) => `"${version}"`;

/**
 * Returns the version that a client expects, or null when it accepts any version.
 *
 * @param header the value of `If-Match`: `*`, or one entity tag. A tag that no response can have, such as a weak tag,
 *   matches no version.
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

/** Whether an error means that the version in `If-Match` is not the current version. */
export const isFailedPrecondition = ({ code, details }: Pick<ServiceError, 'code' | 'details'>) =>
  code === 'CONFLICT' && details?.field === ifMatch.variable;
