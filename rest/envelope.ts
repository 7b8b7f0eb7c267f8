import { errorStatus, type ErrorCode, type ErrorDetails } from '../src/errors.ts';

/** An answer of the REST surface, before it becomes a response. */
export interface RestAnswer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** The headers of every JSON answer. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/** The code and the words of an error, wherever it comes from. */
export interface RestError {
  message: string;
  code: ErrorCode;
  details?: ErrorDetails | undefined;
  /** Names the request of an unexpected error in the log. */
  requestId?: string | undefined;
}

/**
 * The envelope of an error (specification, "Error body").
 *
 * @param status where the transport knows better than the code: 405, 413, 415
 */
export function errorAnswer(
  { message, code, details, requestId }: RestError,
  status: number = errorStatus[code],
): RestAnswer {
  return { status, body: JSON.stringify({ success: false, error: { code, message, details, requestId } }) };
}

/** The envelope of a success (specification, "Response envelope"). */
export function successAnswer(fields: Record<string, unknown>, status = 200): RestAnswer {
  return { status, body: JSON.stringify({ success: true, ...fields }) };
}
