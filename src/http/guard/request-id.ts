import { randomUUID } from 'node:crypto';

/**
 * The maximum length of a request id that a client sends, in characters. The length of a request id is limited, because
 * all log entries and records of the request contain the id.
 */
const maxRequestIdLength = 100;

/**
 * A regular expression that matches valid request ids. The characters that are allowed in a request id have no special
 * meaning in a log, a header or a shell.
 */
const requestIdForm = new RegExp(`^[A-Za-z0-9._:-]{1,${maxRequestIdLength}}$`);

/**
 * Returns the request id of a request. If the client's header `X-Request-Id` has the allowed form, the value of the
 * header is the request id. If the header `X-Request-Id` is missing or does not have the allowed form, the gateway
 * creates a new request id.
 */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && requestIdForm.test(header) ? header : randomUUID();
