import { uuidv7 } from 'uuidv7';

/** Returns a new UUIDv7 (RFC 9562). Identifiers sort in the order of their creation. */
export function newId(): string {
  return uuidv7();
}

/** The form of a UUID of any version (RFC 9562, section 4). */
const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a value has the form of an identifier of this service. Any other value gets the response for an unknown
 * identifier. Such a value never reaches the database, which rejects some characters, for example NUL.
 */
export function isId(value: string): boolean {
  return form.test(value);
}
