/** Loading much data with few operations. */

/** Operations under way at a time: enough to fill the way to the site, few enough to stay below its limits. */
const IN_FLIGHT = 4;

/** Calls `put` with the things below `count`, made by `make`, at most `batchMax` at a time. */
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
