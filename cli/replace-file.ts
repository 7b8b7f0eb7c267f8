import { rmSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { onFirstSignal } from './signals.ts';

/**
 * Whether a path leads to something other than a regular file, such as a pipe. A command must write to an existing
 * pipe, and must not replace the pipe with a new file.
 */
async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile();
}

/**
 * The file mode that allows only the current user to read and write the file, because the file contains personal data.
 */
const privateMode = 0o600;

/**
 * Opens a file for writing. Only the current user may read the opened file, even if the file already existed and other
 * users could read it.
 */
export async function openPrivateFile(path: string): Promise<FileHandle> {
  const file = await open(path, 'w', privateMode);
  try {
    if ((await file.stat()).isFile()) await file.chmod(privateMode);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Replaces a file atomically. Only the current user may read the new file. Other programs see either the old content or
 * the new content of the file, even after a crash. If the user presses Ctrl-C, the function removes its temporary file.
 *
 * @param write a function that writes the new content to the stream and ends the stream
 */
export async function replaceFile(
  path: string,
  write: (target: NodeJS.WritableStream) => Promise<void>,
): Promise<void> {
  if (await isSpecial(path)) return write((await openPrivateFile(path)).createWriteStream());
  // If the path is a symbolic link, the function must replace the file to which the link leads, and keep the link.
  const replaced = await realpath(path).catch(() => path);
  const temporary = `${replaced}.${process.pid}.tmp`;
  const forget = onFirstSignal((signal) => {
    forget(); // removes this listener, so that `process.kill` below ends the process
    rmSync(temporary, { force: true });
    process.kill(process.pid, signal);
  });
  try {
    await write((await openPrivateFile(temporary)).createWriteStream());
    const file = await open(temporary, 'r+');
    await file.sync().finally(() => file.close());
    await rename(temporary, replaced);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    forget();
  }
}
