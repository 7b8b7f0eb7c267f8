import { v7, validate } from 'uuid';

/** A new identifier, UUIDv7 (RFC 9562): ids made one after the other sort in that order. */
export function newId(): string {
  return v7();
}

/**
 * Whether a value has the form of an identifier of this service. What has not cannot exist, so it is
 * answered like an unknown id and never reaches the database (which refuses NUL, for one).
 */
export function isId(value: string): boolean {
  return validate(value);
}
