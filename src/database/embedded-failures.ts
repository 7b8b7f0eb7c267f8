import type { Extension } from '@electric-sql/pglite';

/**
 * The start parameters that limit the server log of PostgreSQL: the log contains only errors of the severities FATAL
 * and PANIC, and no prefix before the severity.
 */
export const onlyFatalErrors = ['-c', 'log_min_messages=fatal', '-c', 'log_line_prefix='];

/**
 * Matches the first line of a fatal error in the server log of PostgreSQL. In an entry of the server log, each later
 * line begins with a tab, or with a word other than `FATAL` and `PANIC`. The text of an SQL statement in the log
 * therefore cannot look like a fatal error.
 */
const fatalError = /^(?:FATAL|PANIC): +(.*)/;

/** The free disk space that PostgreSQL needs for each file of its write-ahead log. */
const logFileBytes = 16 * 1024 * 1024;

/**
 * Calls `onFatalError` with the message of each fatal error that PostgreSQL writes to its server log. PGlite calls
 * `onFatalError` while the failed statement is still running. The gateway process must end at once. The process cannot
 * wait until the failed SQL statement returns an error. For example, a COMMIT in PGlite may never return after
 * PostgreSQL failed to write its write-ahead log.
 */
export const serverLogReader = (onFatalError: (message: string) => void): Extension => ({
  name: 'server log reader',
  setup: async (_, options: object) => ({
    emscriptenOpts: {
      ...options,
      printErr(line: string) {
        const message = fatalError.exec(line)?.[1];
        if (message !== undefined) onFatalError(message);
      },
    },
  }),
});

/** What an operator must check after a failure of the embedded database. */
const firstChecks =
  'the free disk space (the database needs 16 MB for each file of its write-ahead log) and the permissions of the folder';

/**
 * Ends the process after a fatal error of the embedded database, before the database runs another statement. After a
 * fatal error, a PostgreSQL server would restart itself, but PGlite cannot restart. The function prints the cause to
 * standard error, because the process would end before the logger writes its lines.
 */
export function endProcess(files: string, message: string): never {
  console.error(
    `The embedded database in ${files} failed, so the process exits: ${message}. Check ${firstChecks}, and then start ` +
      `the process again. At its start, the database recovers all confirmed changes from its write-ahead log.`,
  );
  process.exit(1);
}

/**
 * Returns the error message that explains why the embedded database cannot be opened. If the disk has no space for
 * another file of the write-ahead log, the error message names the full disk as the cause.
 */
export function cannotOpen(folder: string, reason: string, freeBytes: number | undefined): string {
  if (freeBytes !== undefined && freeBytes < logFileBytes) {
    return (
      `DATA_DIR ${folder} cannot be opened, because the disk is full: ${Math.floor(freeBytes / 1024 / 1024)} MB are ` +
      `free, and the database needs 16 MB for each file of its write-ahead log (${reason}). Free disk space, and then ` +
      `start the process again. A full disk does not damage the database.`
    );
  }
  return (
    `DATA_DIR ${folder} cannot be opened: ${reason}. First check ${firstChecks}. If the folder is damaged or ` +
    `belongs to another version of PostgreSQL, restore the folder from a backup.`
  );
}
