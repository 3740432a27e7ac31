/**
 * What a client is told is true, whatever happens to the network, the gateways and the client: real clients and real
 * gateways, joined by a network in memory, on virtual time, against stores that count what they execute.
 *
 * Executed never → never told "success". Told retryable, or `ABORTED` → never executed, also not later. Executed twice →
 * never. Told `UNKNOWN` → had left the client. And it is of use: where nothing goes wrong and there is time enough →
 * "success", with the right value. `OUTCOMES_SEED=7 OUTCOMES_RUNS=10000` repeats a run, or makes it longer.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calmSchedules, schedules } from '../support/outcomes/schedule.ts';
import { VirtualTime } from '../support/outcomes/virtual-time.ts';
import { forgetfulDeployment, redblueDeployment, World, type Deployment } from '../support/outcomes/world.ts';

const SEED = Number(process.env['OUTCOMES_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(process.env['OUTCOMES_RUNS'] ?? 2_000);

type Steps = Parameters<World['play']>[0];

async function problemsOf(time: VirtualTime, make: () => Deployment, steps: Steps): Promise<string[]> {
  const world = new World(time, make(), steps.length % 2 === 0 ? 'json' : 'msgpack');
  await world.play(steps);
  // Awaited here: the platform's own time is back as soon as this function is left.
  const problems = await world.verdict();
  return problems;
}

const DEPLOYMENTS: [string, () => Deployment][] = [
  ['a RedBlue deployment of two sites', redblueDeployment],
  ['two gateways in front of a store without memory of names', forgetfulDeployment],
];

test.each(DEPLOYMENTS)(
  `%s, any schedule, seed ${SEED} → what clients are told is true`,
  async (_, make) => {
    // One for all schedules: what they share, as the modules of the package do, must not see time go back.
    using time = new VirtualTime();
    const property = fc.asyncProperty(schedules, async (steps) => {
      expect(await problemsOf(time, make, steps)).toEqual([]);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  },
  120_000,
);

test.each(DEPLOYMENTS)(
  `%s, any schedule in which nothing goes wrong, seed ${SEED} → what has time enough succeeds, with the right value`,
  async (_, make) => {
    using time = new VirtualTime();
    const property = fc.asyncProperty(calmSchedules, async (steps) => {
      expect(await problemsOf(time, make, steps)).toEqual([]);
    });
    await fc.assert(property, { seed: SEED, numRuns: Math.ceil(RUNS / 4) });
  },
  120_000,
);

/** Executed by the first gateway, which is gone with its answer; on its way to the second when the connection is cut. */
function firstThenSecondTwice(cutAfterMs: number): Steps {
  return [
    { do: 'wait', ms: 500 },
    { do: 'slow', delayMs: 30 },
    { do: 'update', isRed: false, timeoutMs: 60_000 },
    { do: 'wait', ms: 45 },
    { do: 'restart', site: 0, afterMs: 40_000 },
    { do: 'wait', ms: cutAfterMs },
    { do: 'cut' },
  ];
}

test.each(DEPLOYMENTS)(
  '%s, an update goes to the first, to the second and to the second again, cut at any time → never executed twice',
  async (_, make) => {
    using time = new VirtualTime();
    for (let cutAfterMs = 0; cutAfterMs <= 1_000; cutAfterMs += 10)
      expect(await problemsOf(time, make, firstThenSecondTwice(cutAfterMs)), `cut after ${cutAfterMs} ms`).toEqual([]);
  },
  60_000,
);
