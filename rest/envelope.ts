import type { Answer } from '../src/http/response.ts';
import { errorStatus, type ErrorCode, type ErrorDetails } from '../src/errors/error-table.ts';

/** The code and the words of an error, wherever it comes from. */
interface RestError {
  message: string;
  code: ErrorCode;
  details?: ErrorDetails | undefined;
}

/**
 * The body of an error (specification, "Error body").
 *
 * @param requestId names the request in the log; undefined for a request that never reached the app
 */
export const errorBody = ({ message, code, details }: RestError, requestId?: string): string =>
  JSON.stringify({ success: false, error: { code, message, details, requestId } });

/**
 * The answer of an error.
 *
 * @param status where the transport knows better than the code: 405, 413, 415
 */
export function errorAnswer(error: RestError, status: number = errorStatus[error.code]): Answer {
  return { status, body: (requestId) => errorBody(error, requestId), errorCode: error.code };
}

/** The envelope of a success (specification, "Response envelope"). */
export function successAnswer(fields: Record<string, unknown>, status = 200): Answer & { body: string } {
  return { status, body: JSON.stringify({ success: true, ...fields }) };
}
