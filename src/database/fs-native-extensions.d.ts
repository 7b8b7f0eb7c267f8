declare module 'fs-native-extensions' {
  /**
   * Takes an exclusive lock on an open file. The operating system releases the lock when the file is closed or the
   * process ends.
   *
   * @returns false when the file is already locked through another open file of any process or container
   */
  export function tryLock(fileDescriptor: number): boolean;
}
