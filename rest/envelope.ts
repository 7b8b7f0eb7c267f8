import type { Answer } from '../src/http/responses/response.ts';
import { errorStatus, type ErrorCode, type ErrorDetails } from '../src/errors/error-table.ts';

/** The code and the message of an error, with optional details. */
export interface RestError {
  message: string;
  code: ErrorCode;
  details?: ErrorDetails | undefined;
}

/** Returns the response body of an error (docs/contract.md#error-body). */
export const errorBody = ({ message, code, details }: RestError, requestId: string): string =>
  JSON.stringify({ success: false, error: { code, message, details, requestId } });

/**
 * Creates the response for an error.
 *
 * @param status the HTTP status to use instead of the usual status of the error code, for example 405, 413 or 415
 */
export function errorAnswer(error: RestError, status: number = errorStatus[error.code]): Answer {
  return { status, body: (requestId) => errorBody(error, requestId), errorCode: error.code };
}

/** Creates the response to a request whose path exists, but does not support the HTTP method of the request. */
export const wrongMethod = (method: string, allowed: readonly string[]): Answer => ({
  ...errorAnswer({ code: 'VALIDATION_ERROR', message: `Method ${method} is not allowed here` }, 405),
  headers: { Allow: allowed.join(', ') },
});

/**
 * Creates a successful response: its body is the JSON envelope that contains the data
 * (docs/contract.md#response-envelope).
 */
export function successAnswer(fields: Record<string, unknown>, status = 200): Answer {
  return { status, body: JSON.stringify({ success: true, ...fields }) };
}
