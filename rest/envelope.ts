import type { Answer } from '../src/answer.ts';
import { errorStatus, type ErrorCode, type ErrorDetails } from '../src/errors.ts';

/** An answer in one piece. */
type WholeAnswer = Answer & { body: string };

/** The code and the words of an error, wherever it comes from. */
interface RestError {
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
): WholeAnswer {
  return { status, body: JSON.stringify({ success: false, error: { code, message, details, requestId } }) };
}

/** The envelope of a success (specification, "Response envelope"). */
export function successAnswer(fields: Record<string, unknown>, status = 200): WholeAnswer {
  return { status, body: JSON.stringify({ success: true, ...fields }) };
}
