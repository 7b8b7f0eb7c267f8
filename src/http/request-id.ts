import { randomUUID } from 'node:crypto';

/** The longest id that is taken from a client, in characters: it stands in every record of the request. */
const maxRequestIdLength = 100;

/** What ids are made of: nothing that a log, a header or a shell takes for more than text. */
const requestIdForm = new RegExp(`^[A-Za-z0-9._:-]{1,${maxRequestIdLength}}$`);

/** The id of a request: the one that the client sent as `X-Request-Id` if it has the right form, else a new one. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && requestIdForm.test(header) ? header : randomUUID();
