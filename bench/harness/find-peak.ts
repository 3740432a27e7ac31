/** How far a sweep over loads goes: a peak is one only where less is done beyond it. */

/** Less than this share of the most so far is a fall, and no noise. */
const FALLEN = 0.97;

/**
 * The loads up to the first one where throughput has fallen on all sides, that one included; all of them where it never
 * does.
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
