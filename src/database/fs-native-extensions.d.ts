declare module 'fs-native-extensions' {
  /**
   * Takes an exclusive lock on an open file. The operating system releases the lock when the file is closed or the
   * process ends.
   *
   * @returns false if another process or container has locked the file, or if this process has locked the file through
   *   another file descriptor
   */
  export function tryLock(fileDescriptor: number): boolean;
}
