import { existsSync, readdirSync } from 'node:fs';

/**
 * Returns environment variables that shift the clock of a process, but not its timers. The variable LD_PRELOAD makes
 * the process load the library libfaketime from the Debian package faketime.
 */
export function clockOffBy(offset: string): Record<string, string> {
  const library = readdirSync('/usr/lib')
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
    .find(existsSync);
  if (!library) throw new Error('The package faketime is missing');
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
