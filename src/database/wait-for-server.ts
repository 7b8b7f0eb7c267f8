import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DatabaseStartError } from './start-error.ts';
import type { DatabaseUrlVariable } from './types.ts';
import { property } from './violations.ts';

/** The pause between two attempts to connect to PostgreSQL when the gateway starts, in milliseconds. */
const START_RETRY_INTERVAL_MS = 1_000;

interface WaitOptions {
  /**
   * The name of the environment variable that contains the database URL. Log lines and error messages contain this
   * name.
   */
  urlVariable: DatabaseUrlVariable;
  waitSeconds: number;
  log: Logger;
}

/**
 * Waits until PostgreSQL answers, because the gateway and PostgreSQL can start at the same time.
 *
 * @returns the value that the function `ask` returned
 * @throws {DatabaseStartError} when PostgreSQL does not answer in time. If PostgreSQL rejects the connection settings,
 *   the function throws the error immediately
 */
export async function waitForServer<Answer>(
  ask: () => Promise<Answer>,
  { urlVariable, waitSeconds, log }: WaitOptions,
): Promise<Answer> {
  const endsAtMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      const reason = reasonOf(cause);
      const secondsLeft = Math.ceil((endsAtMs - performance.now()) / 1_000);
      if (secondsLeft <= 0 || isRefusal(cause)) {
        throw new DatabaseStartError(`cannot connect to PostgreSQL at ${urlVariable}: ${reason}`, { cause });
      }
      log.warn(`PostgreSQL at ${urlVariable} does not answer (${reason}): trying for ${secondsLeft} s more`);
      await sleep(START_RETRY_INTERVAL_MS);
    }
  }
}

/**
 * Whether PostgreSQL rejected the connection settings: the user or the password (class 28), the database (3D), or a
 * parameter. If the gateway tried again with the same settings, PostgreSQL would reject the connection again. PgBouncer
 * rejects a parameter with the code 08P01. While PostgreSQL starts, PgBouncer also sends the code 08P01, so the
 * function must also check the text of the error message.
 */
function isRefusal(error: unknown): boolean {
  const code = String(property(error, 'code'));
  return (
    /^(28|3D)/.test(code) || (code === '08P01' && /unsupported startup parameter/i.test(reasonOf(error)))
  );
}

/**
 * Returns the message of an error, or the code of the error if the message is empty. Node's error has no message if all
 * addresses of a host refuse the connection.
 */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}
