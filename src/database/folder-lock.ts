import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders that this process has locked: a lock with our own pid is otherwise one of an earlier life. */
const lockedFolders = new Set<string>();

/**
 * Takes the folder for this process, since PGlite lets two processes ruin it. A lock whose process is gone
 * is taken over.
 *
 * @returns what gives the folder back.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'gateway.lock');
  await mkdir(folder, { recursive: true });
  for (;;) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(identityOf(process.pid));
      await file.close();
      lockedFolders.add(folder);
      return async () => {
        lockedFolders.delete(folder);
        await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = await readFile(path, 'utf8').catch(() => '');
    const pid = Number.parseInt(owner, 10);
    const inUse = pid === process.pid ? lockedFolders.has(folder) : pid > 0 && owner === identityOf(pid);
    if (inUse) {
      throw new Error(
        `DATA_DIR ${folder} is in use by process ${pid}: one process at a time can own an embedded database. ` +
          `Stop it, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL.`,
      );
    }
    await rm(path, { force: true });
  }
}

/** The pid and, where /proc tells, the start of a process; '' when there is none. Pids come back, starts do not. */
function identityOf(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return '';
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 of proc(5); the second field, the command, is in parentheses and may hold spaces.
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return String(pid);
  }
}
