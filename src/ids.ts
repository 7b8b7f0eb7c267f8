import { uuidv7 } from 'uuidv7';

/** A new identifier, UUIDv7 (RFC 9562): ids made one after the other sort in that order. */
export function newId(): string {
  return uuidv7();
}

/** The form of a UUID (RFC 9562, section 4), of whatever version. */
const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a value has the form of an identifier of this service. What has not cannot exist, so it is
 * answered like an unknown id and never reaches the database (which refuses NUL, for one).
 */
export function isId(value: string): boolean {
  return form.test(value);
}
