import { uuidv7 } from 'uuidv7';

/** Creates a UUIDv7 (RFC 9562). Identifiers that are created later sort after earlier identifiers. */
export function newId(): string {
  return uuidv7();
}

/** Matches a UUID of any version (RFC 9562, section 4). */
const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a value has the form of an identifier of this service. The response for any other value is the same as for an
 * unknown identifier. A malformed value never reaches the database, which rejects some characters, for example NUL.
 */
export function isId(value: string): boolean {
  return form.test(value);
}
