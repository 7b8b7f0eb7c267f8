import type { ServiceError } from './error-table.ts';

/**
 * The error of one row in a request with many rows. In a request with many rows, resolvers return the error of each
 * failed row as plain data, and not as an error object. If a resolver returned an error object for one row, the whole
 * response would fail.
 */
export type RowError = Pick<ServiceError, 'code' | 'message' | 'details'>;

/** Returns the code, the message and the details of an error as plain data. */
export const rowError = ({ code, message, details }: ServiceError): RowError => ({ code, message, details });
