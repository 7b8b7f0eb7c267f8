import type { ServiceError } from './error-table.ts';

/** The content of an error for one row. If a resolver returned the error itself, the whole response would fail. */
export type RowError = Pick<ServiceError, 'code' | 'message' | 'details'>;

/** Copies the content of an error. */
export const rowError = ({ code, message, details }: ServiceError): RowError => ({ code, message, details });
