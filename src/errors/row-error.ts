import type { ServiceError } from './error-table.ts';

/**
 * The error of one row in a batch. A resolver returns this object, because a returned error would fail the whole
 * response.
 */
export type RowError = Pick<ServiceError, 'code' | 'message' | 'details'>;

/** Copies the code, message and details of an error. */
export const rowError = ({ code, message, details }: ServiceError): RowError => ({ code, message, details });
