/** Plays schedules, and makes one in which something was wrong shorter. */
import { Sights } from '../outcomes/sights.ts';
import { VirtualTime } from '../outcomes/virtual-time.ts';
import type { Step } from './schedule.ts';
import type { Setting } from './setting.ts';
import { World } from './world.ts';

/** What was wrong when `steps` were played. */
export async function play(setting: Setting, steps: readonly Step[], sights: Sights = new Sights()): Promise<string[]> {
  // One for each schedule: pages that are gone leave timers behind that nobody waits for.
  using time = new VirtualTime();
  const world = new World(time, setting, sights);
  await world.play(steps);
  // Awaited here: the platform's own time is back as soon as this function is left.
  const problems = await world.verdict();
  return problems;
}

/** Circumstances in which less can happen. */
const SIMPLER: readonly Partial<Setting>[] = [
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
  { entriesMax: 100 },
];

/** Says what is wrong with the fewest steps, in the simplest circumstances, in which the same promise is broken. */
export async function shortest(setting: Setting, steps: readonly Step[]): Promise<string> {
  const promiseOf = (problem: string | undefined): string | undefined => problem?.split(':')[0];
  const broken = promiseOf((await play(setting, steps))[0]);
  const isWrong = async (how: Setting, what: readonly Step[]): Promise<boolean> =>
    (await play(how, what)).some((problem) => promiseOf(problem) === broken);
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
  const told = left.map(({ do: what, ...rest }) => `  ${what} ${JSON.stringify(rest)}`);
  return [JSON.stringify(simplest), ...told, ...(await play(simplest, left))].join('\n');
}
