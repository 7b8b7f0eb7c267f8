import type { ServiceError } from './error-table.ts';

/** What an error of the service says of one row: a resolver that returned the error itself would end the whole answer. */
export type RowError = Pick<ServiceError, 'code' | 'message' | 'details'>;

/** What an error says, without the error. */
export const rowError = ({ code, message, details }: ServiceError): RowError => ({ code, message, details });
