import type { WaitingAuthor } from '../auth/key.ts';

/**
 * Calls `runBatch` again and again, until `runBatch` returns a result. Each batch is one short transaction, so that
 * other requests run between two batches. Before each batch after the first batch, the function checks the API key
 * again.
 *
 * @param runBatch a function that runs one batch; it returns `undefined` if more batches must follow
 * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access between two batches
 */
export async function inBatches<Result>(
  author: WaitingAuthor,
  runBatch: () => Promise<Result | undefined>,
): Promise<Result> {
  for (;;) {
    const result = await runBatch();
    if (result !== undefined) return result;
    await author.reauthenticate();
  }
}
