declare module 'fs-native-extensions' {
  /**
   * Takes an exclusive lock on an open file. The operating system releases the lock when the file is closed or the
   * process ends.
   *
   * @returns false if the file is already locked: by another process or container, or by this process through another
   *   open file
   */
  export function tryLock(fileDescriptor: number): boolean;
}
