import { stdout } from 'node:process';
import pino, { type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';
import { createLogOutput } from './log-output.ts';

/**
 * An error can have another error as its cause, which can have a cause itself. At most this many errors are logged
 * together.
 */
const maxLoggedCauses = 4;

/**
 * The properties of an error that are logged. All other properties are omitted, because database drivers add the SQL
 * statement, its values and the row to an error.
 */
const loggedProperties = ['code', 'severity', 'constraint', 'table', 'column', 'routine', 'syscall'] as const;

/**
 * Converts an error for the log. Bodies and API keys of clients are never logged. The function therefore removes the
 * parameters, the statement and the row that database drivers add to an error. It also removes the values that
 * PostgreSQL quotes in its messages.
 */
function describeError(error: unknown, causesLeft = maxLoggedCauses): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? '[not an error]' : error;
  const properties = error as unknown as Record<string, unknown>;
  const kept = loggedProperties.filter((name) => ['string', 'number'].includes(typeof properties[name]));
  return {
    type: error.name,
    message: withoutValues(error.message),
    // Only the stack frames are kept. The error message, which comes before the frames, may have several lines.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^ {4}at /.test(line))
      .join('\n'),
    ...Object.fromEntries(kept.map((name) => [name, properties[name]])),
    ...(error.cause !== undefined && causesLeft > 1 && { cause: describeError(error.cause, causesLeft - 1) }),
  };
}

/**
 * Removes the values that PostgreSQL quotes in its messages, in the form `(column)=(value)` or `invalid input syntax
 * for type x: "value"`.
 */
function withoutValues(message: string): string {
  return message.replace(/=\([^]*\)/g, '=(…)').replace(/: "[^]*"/g, ': "…"');
}

const options: LoggerOptions = { serializers: { err: (error: unknown) => describeError(error) } };

/**
 * The fields that are omitted from log lines on a terminal. The message already contains them, or they are the same on
 * every line.
 */
const omittedOnTerminal = [
  ...['pid', 'hostname', 'requestId', 'surface', 'operation', 'path', 'status', 'errorCode', 'errorPath'],
  ...['durationMs', 'address', 'keyId'],
];

/** The number of characters at the start of each line on a terminal: `[12:00:00] INFO: `. */
const prefixColumns = 18;

/**
 * Creates the message of a log line on a terminal. The line about a request shows its operation or path, its result and
 * its duration, and is cut to the width of the terminal. All other lines show the id of their request.
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
 * Creates the log of the process. It writes JSON lines to standard output, or readable text if the standard output is a
 * terminal.
 *
 * @param destination the stream to write to, instead of standard output
 */
export function createLog(level: string, destination?: pino.DestinationStream): Logger {
  if (destination) return pino({ ...options, level, base: undefined }, destination);
  return stdout.isTTY
    ? pino(
        { ...options, level },
        pretty({
          colorize: true,
          translateTime: 'SYS:HH:MM:ss',
          ignore: omittedOnTerminal.join(),
          singleLine: true,
          messageFormat: (line) => terminalMessage(line, stdout.columns),
        }),
      )
    : pino({ ...options, level, base: undefined }, createLogOutput());
}
