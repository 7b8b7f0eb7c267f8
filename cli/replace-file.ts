import { open, rename, rm, stat } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';

/** Whether a path is something else than a file, such as a pipe: that cannot be replaced. */
async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile();
}

/**
 * Writes a file as a whole: a reader sees the old one or the new one, also when the machine stops half-way.
 *
 * @param write writes the content and ends the stream
 */
export async function replaceFile(
  path: string,
  write: (target: NodeJS.WritableStream) => Promise<void>,
): Promise<void> {
  if (await isSpecial(path)) return write(createWriteStream(path));
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await write(createWriteStream(temporary));
    const file = await open(temporary, 'r+');
    await file.sync().finally(() => file.close());
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
