import { stdout } from 'node:process';
import pino, { type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';
import { createLogOutput } from './log-output.ts';

/** The maximum number of errors in one log line: the error itself, its cause, the cause of its cause, and so on. */
const maxLoggedCauses = 4;

/**
 * The properties of an error object that appear in a log line. The log omits all other properties of an error, because
 * database drivers add the SQL statement, its parameter values and the table row to an error.
 */
const loggedProperties = ['code', 'severity', 'constraint', 'table', 'column', 'routine', 'syscall'] as const;

/**
 * Converts an error to the value that a log line contains for this error. The logged value of an error omits the
 * properties that database drivers add to the error: the SQL statement, its parameters and the table row. The logged
 * value also omits the data that PostgreSQL quotes in error messages. The log never contains request bodies or clients'
 * API keys.
 */
function describeError(error: unknown, causesLeft = maxLoggedCauses): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? '[not an error]' : error;
  const properties = error as unknown as Record<string, unknown>;
  const kept = loggedProperties.filter((name) => ['string', 'number'].includes(typeof properties[name]));
  return {
    type: error.name,
    message: withoutValues(error.message),
    // A stack trace begins with the error message, which may quote values. The log therefore contains only the part of
    // the stack trace after the error message: the stack frames.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^ {4}at /.test(line))
      .join('\n'),
    ...Object.fromEntries(kept.map((name) => [name, properties[name]])),
    ...(error.cause !== undefined && causesLeft > 1 && { cause: describeError(error.cause, causesLeft - 1) }),
  };
}

/**
 * PostgreSQL quotes values of a statement in its error messages. This function removes these values, for example the
 * values in `(column)=(value)` and in `invalid input syntax for type x: "value"`.
 */
function withoutValues(message: string): string {
  return message.replace(/=\([^]*\)/g, '=(…)').replace(/: "[^]*"/g, ': "…"');
}

const options: LoggerOptions = { serializers: { err: (error: unknown) => describeError(error) } };

/**
 * The fields that are omitted from log lines on a terminal. Some of these fields are already part of the log message,
 * and the other fields have the same value on every log line.
 */
const omittedOnTerminal = [
  ...['pid', 'hostname', 'requestId', 'surface', 'operation', 'path', 'status', 'errorCode', 'errorPath'],
  ...['durationMs', 'address', 'keyId'],
];

/** The width of the prefix with time and level (`[12:00:00] INFO:`) in a log line on a terminal, in characters. */
const prefixColumns = 18;

/**
 * Creates the message of a log line on a terminal. The log message about an answered request contains the operation or
 * path, the result and the duration, and fits into the width of the terminal. A message about an error in a request
 * contains the id of the request.
 *
 * @param columns the width of the terminal
 */
export function terminalMessage(line: Record<string, unknown>, columns: number): string {
  const { msg, operation, path, status, errorCode, durationMs, requestId } = line;
  if (msg !== 'request') return requestId ? `${String(msg)} (request ${String(requestId)})` : String(msg);
  const result = [status, errorCode, `${String(durationMs)} ms`].filter(Boolean).join(' ');
  const name = String(path ?? operation);
  const room = Math.max(columns - prefixColumns - result.length - 1, 0);
  return `${name.length > room ? `${name.slice(0, Math.max(room - 1, 0))}…` : name} ${result}`;
}

/**
 * Creates the logger of the gateway process. The log writes JSON lines to standard output. If the standard output is a
 * terminal, the log writes readable text instead of JSON.
 *
 * @param destination the stream that receives the log lines; by default, the lines go to standard output
 */
export function createLog(level: string, destination?: pino.DestinationStream): Logger {
  if (destination) return pino({ ...options, level, base: undefined }, destination);
  if (stdout.isTTY) {
    return pino(
      { ...options, level },
      pretty({
        colorize: true,
        translateTime: 'SYS:HH:MM:ss',
        ignore: omittedOnTerminal.join(),
        singleLine: true,
        messageFormat: (line) => terminalMessage(line, stdout.columns),
      }),
    );
  }
  const onLinesLost = (lines: number) =>
    log.warn({ lines }, 'log lines were lost, because the log could not be written');
  const log = pino({ ...options, level, base: undefined }, createLogOutput({ onLinesLost }));
  return log;
}
