declare module 'fs-native-extensions' {
  /**
   * Takes an exclusive lock of a file for this file descriptor. The system releases the lock when the descriptor is
   * closed or its process ends.
   *
   * @returns false when another descriptor of any process or container holds the lock
   */
  export function tryLock(fileDescriptor: number): boolean;
}
