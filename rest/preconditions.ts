import { expectedVersionField, invalidField, type ServiceError } from '../src/errors/error-table.ts';

// This file implements conditional requests (RFC 9110) for responses with a single whitelist entry or location. The
// entity tag of a single whitelist entry or location contains the version of this entry or location.

/** The name of the request header `If-Match`, and the name of the GraphQL argument that has the same effect. */
export const ifMatch = { header: 'If-Match', variable: expectedVersionField } as const;

/**
 * The HTTP status of the response when the version in `If-Match` is not the current version. For other `CONFLICT`
 * errors, for example about a location slug that already exists, the HTTP status is 409.
 */
export const preconditionFailed = 412;

/** Matches an entity tag (RFC 9110, section 8.8.3). */
const entityTagForm = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/**
 * Matches an entity tag that contains the version of a whitelist entry or location. The pattern accepts at most nine
 * digits, because a version must fit into the GraphQL type `Int`.
 */
const versionTagForm = /^"([1-9][0-9]{0,8})"$/;
/**
 * The version 0 belongs to no whitelist entry and no location, because versions start at 1. If a client sends an entity
 * tag that the gateway never creates, the gateway uses 0 as the expected version, so no version matches.
 */
const noVersion = 0;

/** Returns the entity tag for a version of a whitelist entry or location. */
export const versionTag = (version: number) => `"${version}"`;

/**
 * Returns the version of the whitelist entry or location that the client expects, or null if the client accepts any
 * version.
 *
 * @param header the value of `If-Match`: `*`, or one entity tag. An entity tag that the gateway never sends, such as a
 *   weak tag, matches no version of a whitelist entry or location.
 * @throws {ServiceError} `VALIDATION_ERROR` if `If-Match` is neither `*` nor one entity tag
 */
export function expectedVersion(header: string | undefined): number | null {
  const tag = header?.trim();
  if (tag === undefined || tag === '*') return null;
  if (!entityTagForm.test(tag)) {
    throw invalidField(ifMatch.header, 'Must be * or the ETag of an earlier answer, such as "3"', header);
  }
  return Number(versionTagForm.exec(tag)?.[1] ?? noVersion);
}

/** Returns true if an error means that the version in `If-Match` is not the current version of the object. */
export const isFailedPrecondition = ({ code, details }: Pick<ServiceError, 'code' | 'details'>) =>
  code === 'CONFLICT' && details?.field === ifMatch.variable;
