/**
 * Calls `runBatch` again and again, until `runBatch` returns a result. Each batch is one short transaction, so that
 * other requests run between two batches.
 *
 * @param runBatch runs one batch; returns `undefined` when a further batch must follow
 */
export async function inBatches<Result>(runBatch: () => Promise<Result | undefined>): Promise<Result> {
  for (;;) {
    const result = await runBatch();
    if (result !== undefined) return result;
  }
}
