/** The exit codes of the commands, for scripts. */
export const exitCode = {
  /** The exit code of a command that succeeded. */
  done: 0,
  /**
   * The exit code when the gateway rejected the request or was unreachable. A command also ends with the exit code
   * `failed` when an import finds an error in the file after the first rows were sent.
   */
  failed: 1,
  /**
   * The exit code when the command-line arguments or the input file are invalid, and nothing was sent to the gateway.
   */
  usage: 2,
  /**
   * The exit code when the command completed, but some rows were not imported, or some requests were not translated.
   */
  rejected: 3,
  /** The exit code when the API key has used operations that a later version of the gateway will remove. */
  deprecated: 3,
  /** The exit code when the responses of REST and GraphQL differ or could not be compared. */
  different: 3,
  /** The exit code after Ctrl-C: as is usual in shells, it is 128 plus the number of the signal SIGINT. */
  interrupted: 130,
} as const;

/**
 * Details of a `Failure`. A command uses these details of a failed response to react to the failure, for example to
 * decide whether to retry a request.
 */
interface FailedAnswer {
  /** The error code in the response. */
  code?: string | undefined;
  /** The name of the invalid field in the error response, such as `quotas.3.inside`. */
  field?: string | undefined;
  /** True if the gateway was unreachable or failed. A retry may then succeed. */
  temporary?: boolean;
  /** The number of seconds in the response header `Retry-After`. */
  retryAfterSeconds?: number | undefined;
}

/** An error that ends a command with a message for the user. */
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
