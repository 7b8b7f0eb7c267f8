import { Failure } from './failure.ts';

/** How a gateway says what is wrong. */
export interface GraphError {
  message: string;
  extensions?: { code?: string; details?: { field?: string; value?: unknown } };
}

/** How long the gateway may take to answer: an import may wait for its turn. */
const answerTimeoutMs = 120_000;

/**
 * Sends a request to the gateway and follows no redirect: another server would be handed the key.
 *
 * @throws {Failure} when the gateway sends the client elsewhere, with the address
 */
export async function fetchFromGateway(address: URL, init: RequestInit): Promise<Response> {
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  const response = await fetch(address, { signal: timeout, ...init, redirect: 'manual' });
  if (response.status < 300 || response.status > 399) return response;
  const target = response.headers.get('Location');
  const elsewhere = target && URL.canParse(target, address) ? new URL(target, address).href : 'nowhere';
  throw new Failure(
    `${address.origin} redirects to ${elsewhere}, and the key was not sent there. If this is your gateway, name it with --url.`,
  );
}

/** The pauses before what failed is tried again, in seconds; from the last one on they stay the same. */
const pausesSeconds = [1, 2, 4, 8, 16, 30];

/** The pause after so many failures in a row, in seconds; 30 at most. */
export function pauseAfter(failures: number): number {
  return pausesSeconds[Math.min(failures, pausesSeconds.length) - 1] ?? 0;
}

/** What a failed connection says of its reason. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

/** What the gateway said in words, with the field and the value that it names. */
export function failureOf(errors: readonly GraphError[], response?: Response): Failure {
  const lines = errors.map(({ message, extensions: { code, details } = {} }) =>
    [
      `${code ?? response?.status ?? 'Error'}: ${message}`,
      ...(details?.field ? [`  field: ${details.field}`] : []),
      ...(details && 'value' in details ? [`  value: ${JSON.stringify(details.value)}`] : []),
    ].join('\n'),
  );
  const requestId = response?.headers.get('X-Request-Id');
  const { code, details: firstDetails } = errors[0]?.extensions ?? {};
  return new Failure([...lines, ...(requestId ? [`  request: ${requestId}`] : [])].join('\n'), undefined, {
    code,
    field: firstDetails?.field,
    temporary: code === 'INTERNAL_ERROR',
  });
}
