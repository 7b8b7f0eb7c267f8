import { randomUUID } from 'node:crypto';

/** The longest id that a client may set, in characters. Every record of the request contains the id. */
const maxRequestIdLength = 100;

/** The form of a request id. Its characters have no special meaning in a log, a header or a shell. */
const requestIdForm = new RegExp(`^[A-Za-z0-9._:-]{1,${maxRequestIdLength}}$`);

/** Returns the id of a request: the client's `X-Request-Id` if it has the right form, otherwise a new id. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && requestIdForm.test(header) ? header : randomUUID();
