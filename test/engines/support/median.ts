/** How long something takes, in the middle of several times. */

/** The median of so many runs, one after the other, in milliseconds. */
export async function medianMs(runs: number, action: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now();
    await action();
    took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  return took[Math.floor(took.length / 2)] as number;
}
