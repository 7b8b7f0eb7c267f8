/** What a command ends with, for scripts. */
export const exitCode = {
  /** Everything was done. */
  done: 0,
  /** The gateway refused, or could not be reached. */
  failed: 1,
  /** The command or its file is not as it must be; nothing was sent. */
  usage: 2,
  /** An import went through, and some of its rows were rejected. */
  rejected: 3,
} as const;

/** Ends a command with words for the person who typed it. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, code: number = exitCode.failed) {
    super(message);
    this.exitCode = code;
  }
}
