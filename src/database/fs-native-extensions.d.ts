declare module 'fs-native-extensions' {
  /**
   * Locks a file for this file descriptor, exclusively. The system releases the lock when the descriptor is
   * closed, by the death of its process too.
   *
   * @returns false when another descriptor holds the lock, in whatever process or container
   */
  export function tryLock(fileDescriptor: number): boolean;
}
