import { stdout } from 'node:process';
import pino, { type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';
import { createLogOutput } from './log-output.ts';

/** How many causes of an error are logged, the first one included. */
const maxLoggedCauses = 4;

/** What an error of the log may carry beside its message. Databases add the statement, its values and the row. */
const loggedProperties = ['code', 'severity', 'constraint', 'table', 'column', 'routine', 'syscall'] as const;

/**
 * An error as the log shows it: without the parameters, the statement and the row that the drivers of the
 * database attach, and without the values that PostgreSQL quotes in its messages. They are bodies and keys of
 * clients, which are never logged.
 */
function describeError(error: unknown, causesLeft = maxLoggedCauses): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? '[not an error]' : error;
  const properties = error as unknown as Record<string, unknown>;
  const kept = loggedProperties.filter((name) => ['string', 'number'].includes(typeof properties[name]));
  return {
    type: error.name,
    message: withoutValues(error.message),
    // The lines after the message, which can have several lines itself.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^ {4}at /.test(line))
      .join('\n'),
    ...Object.fromEntries(kept.map((name) => [name, properties[name]])),
    ...(error.cause !== undefined && causesLeft > 1 && { cause: describeError(error.cause, causesLeft - 1) }),
  };
}

/** PostgreSQL quotes values as `Key (column)=(value)`, and as `invalid input syntax for type x: "value"`. */
function withoutValues(message: string): string {
  return message.replace(/=\([^]*\)/g, '=(…)').replace(/: "[^]*"/g, ': "…"');
}

const options: LoggerOptions = { serializers: { err: (error: unknown) => describeError(error) } };

/** What a line on a terminal leaves out: what its message says already, and what is the same on every line. */
const leftOutOnTerminal = [
  ...['pid', 'hostname', 'requestId', 'surface', 'operation', 'path', 'status', 'errorCode', 'errorPath'],
  ...['durationMs', 'address', 'keyId'],
];

/** What stands before the message on a terminal: `[12:00:00] INFO: `. */
const prefixColumns = 18;

/**
 * The message of a line on a terminal. A request is told by its operation or path, its result and its time, and cut
 * to the width of the terminal; other lines name their request.
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
 * The log of the process: JSON lines on standard output, or readable text when that is a terminal.
 *
 * @param destination where the lines go instead
 */
export function createLog(level: string, destination?: pino.DestinationStream): Logger {
  if (destination) return pino({ ...options, level, base: undefined }, destination);
  return stdout.isTTY
    ? pino(
        { ...options, level },
        pretty({
          colorize: true,
          translateTime: 'SYS:HH:MM:ss',
          ignore: leftOutOnTerminal.join(),
          singleLine: true,
          messageFormat: (line) => terminalMessage(line, stdout.columns),
        }),
      )
    : pino({ ...options, level, base: undefined }, createLogOutput());
}
