/**
 * Determines the end of a sweep over loads: a peak is proven only if the throughput is lower beyond
 * it.
 */

/**
 * If the throughput is below this share of the highest one so far, it has fallen. Smaller
 * differences count as noise.
 */
const FALLEN = 0.97;

/**
 * Returns the loads up to and including the first one at which the throughput of all sides has
 * fallen, or all loads if it never does.
 *
 * @param loads rising
 * @param measure the throughput of each side under a load
 */
export async function findPeakLoads(
  loads: readonly number[],
  measure: (load: number) => Promise<readonly number[]>,
): Promise<number[]> {
  const tried: number[] = [];
  let most: readonly number[] = [];
  for (const load of loads) {
    tried.push(load);
    const done = await measure(load);
    most = done.map((item, side) => Math.max(item, most[side] ?? 0));
    if (done.every((item, side) => item < FALLEN * (most[side] as number))) break;
  }
  return tried;
}
