/** The exit codes of the commands, for scripts. */
export const exitCode = {
  /** The command has succeeded. */
  done: 0,
  /** The gateway rejected the request, or was unreachable. */
  failed: 1,
  /** The command line or its input file is invalid. Nothing was sent to the gateway. */
  usage: 2,
  /** The command completed, but the gateway rejected some rows of an import, or some requests to translate. */
  rejected: 3,
  /** The API key uses operations that a later version will remove. */
  deprecated: 3,
  /** The responses of REST and GraphQL differ, or a read could not be compared. */
  different: 3,
  /** Ctrl-C ended the command. The code is 128 plus the number of the signal SIGINT, as in shells. */
  interrupted: 130,
} as const;

/** Further properties of a failure, for commands that react to it. */
interface FailedAnswer {
  /** The error code in the response. */
  code?: string | undefined;
  /** The field that the error names, such as `quotas.3.inside`. */
  field?: string | undefined;
  /** Whether a retry may succeed, because the gateway was unreachable or failed. */
  temporary?: boolean;
  /** The number of seconds in the header `Retry-After`. */
  retryAfterSeconds?: number | undefined;
}

/** Ends a command with a message for its user. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly code: string | undefined;
  readonly field: string | undefined;
  readonly temporary: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, code: number = exitCode.failed, answer: FailedAnswer = {}) {
    super(message);
    this.exitCode = code;
    this.code = answer.code;
    this.field = answer.field;
    this.temporary = answer.temporary ?? false;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}
