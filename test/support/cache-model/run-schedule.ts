/** Plays schedules, and makes one in which something was wrong shorter. */
import { Coverage } from '../outcomes/coverage.ts';
import { VirtualTime } from '../outcomes/virtual-time.ts';
import type { Step } from './schedule.ts';
import type { CacheOptions } from './options.ts';
import { CacheSimulation } from './simulation.ts';

/** What was wrong when `steps` were played. */
export async function runSchedule(
  setting: CacheOptions,
  steps: readonly Step[],
  sights: Coverage = new Coverage(),
): Promise<string[]> {
  // One for each schedule: pages that are gone leave unused timers behind.
  using time = new VirtualTime();
  const world = new CacheSimulation(time, setting, sights);
  await world.play(steps);
  // Awaited here: the platform's own time is back as soon as this function is left.
  const problems = await world.verdict();
  return problems;
}

/** Circumstances in which less can happen. */
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

/** Returns the problem with the fewest steps, in the simplest circumstances, in which the same promise is broken. */
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
  const reported = left.map(({ do: description, ...rest }) => `  ${description} ${JSON.stringify(rest)}`);
  return [JSON.stringify(simplest), ...reported, ...(await runSchedule(simplest, left))].join('\n');
}
