import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DatabaseStartError } from './start-error.ts';
import { property } from './violations.ts';

/** The pause between two attempts to connect to PostgreSQL when the gateway starts, in milliseconds. */
const START_RETRY_INTERVAL_MS = 1_000;

/**
 * Waits until PostgreSQL answers, because the gateway and PostgreSQL can start at the same time.
 *
 * @throws {DatabaseStartError} when PostgreSQL does not answer in time. If PostgreSQL rejects the connection settings,
 *   the function throws the error immediately
 */
export async function waitForServer(
  ask: () => Promise<unknown>,
  waitSeconds: number,
  log: Logger,
): Promise<void> {
  const endsAtMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (cause) {
      const reason = reasonOf(cause);
      const secondsLeft = Math.ceil((endsAtMs - performance.now()) / 1_000);
      if (secondsLeft <= 0 || isRefusal(cause)) {
        throw new DatabaseStartError(`cannot connect to PostgreSQL at DATABASE_URL: ${reason}`, { cause });
      }
      log.warn(`PostgreSQL at DATABASE_URL does not answer (${reason}): trying for ${secondsLeft} s more`);
      await sleep(START_RETRY_INTERVAL_MS);
    }
  }
}

/**
 * Whether PostgreSQL rejected the connection settings: the user or the password (class 28), the database (3D), or a
 * parameter (08P01). PostgreSQL would also reject further attempts to connect with the same settings.
 */
function isRefusal(error: unknown): boolean {
  return /^(28|3D|08P01)/.test(String(property(error, 'code')));
}

/**
 * Returns the message of an error, or the code of the error if the message is empty. Node's error has no message if all
 * addresses of a host refuse the connection.
 */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}
