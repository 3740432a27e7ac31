/** Runs schedules, and shortens a schedule in which a promise was broken. */
import { Coverage } from '../outcomes/coverage.ts';
import { VirtualTime } from '../outcomes/virtual-time.ts';
import type { Step } from './schedule.ts';
import type { CacheOptions } from './options.ts';
import { CacheSimulation } from './simulation.ts';

/** Runs `steps` and returns the broken promises. */
export async function runSchedule(
  setting: CacheOptions,
  steps: readonly Step[],
  sights: Coverage = new Coverage(),
): Promise<string[]> {
  // Create one clock for each schedule, because closed pages leave unused timers behind.
  using time = new VirtualTime();
  const world = new CacheSimulation(time, setting, sights);
  await world.play(steps);
  // Await the result here, because the real clock is restored when this function returns.
  const problems = await world.verdict();
  return problems;
}

/** Simpler settings, under which less can happen. */
const SIMPLER: readonly Partial<CacheOptions>[] = [
  { hasSessions: false },
  { tabs: 1 },
  { versioning: 'none', replica: 'one' },
  { versioning: 'object' },
  { replica: 'one' },
  { store: 'none' },
  { ttlMs: undefined },
  { hasClockJumps: false },
  { onMiss: 'fail' },
  { isWeakCommitted: true },
  { maxEntries: 100 },
];

/** Returns the shortest schedule, under the simplest settings, that breaks the same promise. */
export async function shortest(setting: CacheOptions, steps: readonly Step[]): Promise<string> {
  const getPromise = (problem: string | undefined): string | undefined => problem?.split(':')[0];
  const broken = getPromise((await runSchedule(setting, steps))[0]);
  const isWrong = async (how: CacheOptions, description: readonly Step[]): Promise<boolean> =>
    (await runSchedule(how, description)).some((problem) => getPromise(problem) === broken);
  let left = [...steps];
  for (let at = left.length - 1; at >= 0; at--) {
    const fewer = left.filter((_, index) => index !== at);
    if (await isWrong(setting, fewer)) left = fewer;
  }
  let simplest = setting;
  for (const simpler of SIMPLER) {
    const next = { ...simplest, ...simpler };
    if (await isWrong(next, left)) simplest = next;
  }
  const reported = left.map(
    ({ do: description, ...rest }) => `  ${description} ${JSON.stringify(rest)}`,
  );
  return [JSON.stringify(simplest), ...reported, ...(await runSchedule(simplest, left))].join('\n');
}
