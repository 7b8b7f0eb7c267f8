import { stdout } from 'node:process';
import pino, { type Logger } from 'pino';

/** The log of the process: JSON lines on standard output, or readable text when that is a terminal. */
export function createLog(level: string): Logger {
  return stdout.isTTY
    ? pino({
        level,
        transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
      })
    : pino({ level, base: undefined }, pino.destination({ sync: false }));
}
