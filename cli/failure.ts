/** What a command ends with, for scripts. */
export const exitCode = {
  /** Everything was done. */
  done: 0,
  /** The gateway refused, or could not be reached. */
  failed: 1,
  /** The command or its file is not as it must be; nothing was sent. */
  usage: 2,
  /** Everything was looked at, and some of it was refused: rows of an import, requests to translate. */
  rejected: 3,
  /** The key uses operations that will be removed. */
  deprecated: 3,
  /** The surfaces differ, or a read could not be compared. */
  different: 3,
} as const;

/** What is known of an answer that ends a command. */
interface FailedAnswer {
  /** The code of the error table that the gateway answered with. */
  code?: string | undefined;
  /** The field that it named, such as `quotas.3.inside`. */
  field?: string | undefined;
  /** Whether the same request may succeed later: the gateway was away, or failed. */
  temporary?: boolean;
}

/** Ends a command with words for the person who typed it. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly code: string | undefined;
  readonly field: string | undefined;
  readonly temporary: boolean;

  constructor(message: string, code: number = exitCode.failed, answer: FailedAnswer = {}) {
    super(message);
    this.exitCode = code;
    this.code = answer.code;
    this.field = answer.field;
    this.temporary = answer.temporary ?? false;
  }
}
