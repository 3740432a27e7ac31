/**
 * The outcomes of a client are true, whatever happens to the network, the gateways, the sites and
 * the client: real clients and real gateways, joined by a network in memory, on virtual time,
 * against stores that know what they executed. Never executed → never reported "success". Reported
 * as retryable, rejected, or `ABORTED` → never executed, also not later. Executed twice → never.
 * Reported `UNKNOWN` → had left the client. Views rise, are those of the store, and end once; a
 * result is that of the one run. And it is of use: without faults and with time enough → every
 * view, and "success". `OUTCOMES_SEED=7 OUTCOMES_RUNS=10000` repeats a run, or makes it longer.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  forgetfulDeployment,
  redblueDeployment,
  type Deployment,
} from '../support/outcomes/deployments.ts';
import { calmSchedules, schedules, type Step } from '../support/outcomes/schedule.ts';
import {
  CODECS,
  drawOutcomeOptions,
  usualSettings,
  type OutcomeOptions,
} from '../support/outcomes/options.ts';
import { Coverage } from '../support/outcomes/coverage.ts';
import { VirtualTime } from '../support/outcomes/virtual-time.ts';
import { OutcomeSimulation } from '../support/outcomes/simulation.ts';
import { lane, sampleCases } from '../support/lane.ts';

const SEED = Number(process.env['OUTCOMES_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = Number(
  process.env['OUTCOMES_RUNS'] ?? { fast: 50, remaining: 1_500, all: 1_500, nightly: 15_000 }[lane],
);
const TIMEOUT_MS = 3_600_000;
/** With so many runs, what is rare has been seen. */
const ENOUGH_RUNS = 1_000;

/**
 * What so many schedules must have led to, and how often in a thousand of them: about half of how
 * often they do.
 */
const SEEN_PER_THOUSAND: Readonly<Record<string, number>> = {
  success: 450,
  UNKNOWN: 240,
  UNAVAILABLE: 400,
  ABORTED: 15,
  FORBIDDEN: 70,
  OVERLOADED: 45,
  confirmation: 90,
  'a site closed': 200,
  'cut, with a write in flight': 330,
  'lose, with a write in flight': 180,
  'restart, with a write in flight': 80,
  'deploy, with a write in flight': 50,
  'close-site, with a write in flight': 120,
  'cancel, with a write in flight': 15,
  'close, with a write in flight': 25,
};

/** The same without faults: so that an outcome that is only useless is noticed too. */
const CALM_PER_THOUSAND: Readonly<Record<string, number>> = {
  'held to be of use': 350,
  'held to several views': 100,
  confirmation: 100,
};

/** The times after which a connection is cut below. */
const CUT_TIMES_MS = sampleCases(Array.from({ length: 101 }, (_, index) => 10 * index));

interface Played {
  readonly make: () => Deployment;
  readonly setting: OutcomeOptions;
  readonly sights: Coverage;
}

async function problemsOf(
  time: VirtualTime,
  steps: readonly Step[],
  played: Played,
): Promise<string[]> {
  const { make, setting, sights } = played;
  const world = new OutcomeSimulation(time, make(), setting, sights);
  await world.play(steps);
  // Awaited here: the platform's own time is back as soon as this function is left.
  const problems = await world.verdict();
  return problems;
}

/**
 * How it is made; what any schedule leads to beside the above; and what each of those below does.
 */
const DEPLOYMENTS: [
  string,
  () => Deployment,
  Readonly<Record<string, number>>,
  readonly string[],
][] = [
  ['a RedBlue deployment of two sites', redblueDeployment, { move: 70 }, ['move', 'success']],
  // Nothing that was sent before is executed elsewhere: no move is.
  [
    'two gateways in front of a store without memory of names',
    forgetfulDeployment,
    { correction: 100, 'forgot the replies of clients that did not come back': 90 },
    ['UNKNOWN'],
  ],
];

test.each(DEPLOYMENTS)(
  `%s, any schedule, seed ${SEED} → the outcomes of clients are true`,
  async (_, make, more) => {
    // One for all schedules: what they share, as the modules of the package do, must not see time
    // go back.
    using time = new VirtualTime();
    const sights = new Coverage();
    const property = fc.asyncProperty(schedules, drawOutcomeOptions, async (steps, setting) => {
      expect(await problemsOf(time, steps, { make, setting, sights })).toEqual([]);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    const perThousand = { ...SEEN_PER_THOUSAND, ...more };
    if (RUNS >= ENOUGH_RUNS) expect(sights.seldom(perThousand, RUNS), String(sights)).toEqual([]);
  },
  TIMEOUT_MS,
);

test.each(DEPLOYMENTS)(
  `%s, any schedule in which nothing goes wrong, seed ${SEED} → what has time enough succeeds, view by view`,
  async (_, make) => {
    using time = new VirtualTime();
    const sights = new Coverage();
    const property = fc.asyncProperty(calmSchedules, usualSettings, async (steps, setting) => {
      expect(await problemsOf(time, steps, { make, setting, sights })).toEqual([]);
    });
    const numRuns = Math.ceil(RUNS / 4);
    await fc.assert(property, { seed: SEED, numRuns });
    if (RUNS >= ENOUGH_RUNS)
      expect(sights.seldom(CALM_PER_THOUSAND, numRuns), String(sights)).toEqual([]);
  },
  TIMEOUT_MS,
);

/**
 * Executed by the first gateway, which is gone with its answer; on its way to the second when the
 * connection is cut.
 */
function firstThenSecondTwice(cutAfterMs: number): Step[] {
  return [
    { do: 'wait', ms: 500 },
    { do: 'slow', delayMs: 30 },
    { do: 'write', isRed: false, manner: 'once', wants: 'strong', timeoutMs: 60_000 },
    { do: 'wait', ms: 45 },
    { do: 'restart', site: 0, afterMs: 40_000 },
    { do: 'wait', ms: cutAfterMs },
    { do: 'cut' },
  ];
}

test.each(DEPLOYMENTS)(
  '%s, a write goes to the first, to the second and to the second again, cut at any time → never executed twice',
  async (_, make, _more, item) => {
    using time = new VirtualTime();
    const sights = new Coverage();
    for (const [cut, cutAfterMs] of CUT_TIMES_MS.entries()) {
      const setting = { codec: CODECS[cut % 2] as OutcomeOptions['codec'], bounds: {} };
      const problems = await problemsOf(time, firstThenSecondTwice(cutAfterMs), {
        make,
        setting,
        sights,
      });
      expect(problems, `cut after ${cutAfterMs} ms`).toEqual([]);
    }
    // Each time the first gateway has executed it, and often it is on its way to the second when
    // that is cut off.
    expect(sights.times('restart, with a write in flight')).toBe(CUT_TIMES_MS.length);
    for (const description of item)
      expect(sights.times(description), description).toBeGreaterThanOrEqual(CUT_TIMES_MS.length);
    expect(sights.times('cut, with a write in flight')).toBeGreaterThan(CUT_TIMES_MS.length / 4);
  },
  TIMEOUT_MS,
);
