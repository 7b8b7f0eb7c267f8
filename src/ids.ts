import { uuidv7 } from 'uuidv7';

/** Creates a UUIDv7 (RFC 9562). If identifiers are sorted alphabetically, they are in the order of their creation. */
export function newId(): string {
  return uuidv7();
}

/** Matches a UUID of any version (RFC 9562, section 4). */
const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a value has the form of a UUID. All identifiers of the gateway are UUIDs. If a client sends an identifier
 * that is not a UUID, it gets the same response as for an unknown identifier. The gateway compares only UUIDs with the
 * identifiers in the database, because the database rejects some characters in a query, for example NUL.
 */
export function isId(value: string): boolean {
  return form.test(value);
}
