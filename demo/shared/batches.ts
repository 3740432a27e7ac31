/** Loads much data with few operations. */

/**
 * The number of operations in flight: enough to use the connection to the site, and few enough to
 * stay below its limits.
 */
const IN_FLIGHT = 4;

/** Creates `count` items by `make`, and calls `put` with at most `batchMax` of them at a time. */
export async function inBatches<T>(
  { count, batchMax: maxBatch }: { readonly count: number; readonly batchMax: number },
  make: (index: number) => T,
  put: (batch: T[]) => PromiseLike<unknown>,
): Promise<void> {
  let next = 0;
  const load = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + maxBatch);
      await put(Array.from({ length: next - from }, (_, n) => make(from + n)));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, load));
}
