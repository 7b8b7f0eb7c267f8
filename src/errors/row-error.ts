import type { ServiceError } from './error-table.ts';

/**
 * The error of one row in a request with many rows. A resolver returns it as plain data, because an error object would
 * make the whole response fail.
 */
export type RowError = Pick<ServiceError, 'code' | 'message' | 'details'>;

/** Returns the code, the message and the details of an error as plain data. */
export const rowError = ({ code, message, details }: ServiceError): RowError => ({ code, message, details });
