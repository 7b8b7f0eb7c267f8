import { randomUUID } from 'node:crypto';

/** The maximum length of a request id that a client sends, in characters. All records of the request contain the id. */
const maxRequestIdLength = 100;

/** The form of a request id. The allowed characters have no special meaning in a log, a header or a shell. */
const requestIdForm = new RegExp(`^[A-Za-z0-9._:-]{1,${maxRequestIdLength}}$`);

/** Returns the id of a request: the client's `X-Request-Id` if the header has the right form, otherwise a new id. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && requestIdForm.test(header) ? header : randomUUID();
