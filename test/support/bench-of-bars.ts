/**
 * A benchmark command whose benchmarks have measured already: each is called after what its bars are. What the process of
 * `npm run bench` ends with is to be seen without measuring anything.
 */
import { runCommand } from '../../bench/command.ts';
import { atLeast, estimate, reported, type Bar } from '../../bench/harness/bars.ts';
import type { Bench } from '../../bench/harness/bench.ts';

const around = (value: number): ReturnType<typeof estimate> =>
  estimate([-3, -2, -1, 0, 1, 2, 3].map((step) => value + step / 10));
const GOALS = { floor: 1, aim: 2 };
const MET = atLeast('rate', around(3), GOALS);

const BARS: Readonly<Record<string, readonly Bar[]>> = {
  met: [MET, reported('height', around(1))],
  held: [MET, atLeast('weight', around(1.5), GOALS)],
  undecided: [MET, atLeast('weight', around(1), GOALS)],
  'aim-missed': [MET, atLeast('weight', around(1), { aim: 2 })],
  'floor-missed': [MET, atLeast('weight', around(0.5), GOALS)],
};

await runCommand(
  Object.entries(BARS).map(([name, bars]): Bench => ({
    name,
    about: 'bars that were measured before',
    run: async () => ({ rounds: 7, rows: [], bars, samples: [], figures: {} }),
  })),
);
