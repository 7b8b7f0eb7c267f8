import type { Answer } from '../src/http/responses/response.ts';
import { errorStatus, type ErrorCode, type ErrorDetails } from '../src/errors/error-table.ts';

/** The code and the message of an error, with optional details. */
interface RestError {
  message: string;
  code: ErrorCode;
  details?: ErrorDetails | undefined;
}

/**
 * Returns the response body of an error (docs/contract.md#error-body).
 *
 * @param requestId the identifier of the request in the log; undefined for a request that never reached the app
 */
export const errorBody = ({ message, code, details }: RestError, requestId?: string): string =>
  JSON.stringify({ success: false, error: { code, message, details, requestId } });

/**
 * Creates the response for an error.
 *
 * @param status replaces the usual status of the error code; used for 405, 413 and 415
 */
export function errorAnswer(error: RestError, status: number = errorStatus[error.code]): Answer {
  return { status, body: (requestId) => errorBody(error, requestId), errorCode: error.code };
}

/** Creates a successful response in the usual envelope (docs/contract.md#response-envelope). */
export function successAnswer(fields: Record<string, unknown>, status = 200): Answer & { body: string } {
  return { status, body: JSON.stringify({ success: true, ...fields }) };
}
