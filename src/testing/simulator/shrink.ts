/** Finds a simpler run with the same fault. It shows what the fault needs, and what it does not. */
import type { Profile, SimulationOptions } from './options.ts';
import type { RunResult } from './run-result.ts';
import type { SimulateOptions } from './simulate-options.ts';
import { simulate } from './simulation.ts';

/** Options to leave out, the most confusing first. */
const SIMPLIFICATIONS: readonly Partial<SimulationOptions>[] = [
  { wildClockAheadMs: 0 },
  { clockStepEveryMs: Infinity },
  { maxDrift: 0 },
  { maxWindow: 1000 },
  { redRepeatChance: 0 },
  { redJumpChance: 0 },
  { redRegressChance: 0 },
  { deposeEveryMs: Infinity },
  { loseSiteAtMs: Infinity },
  { crashEveryMs: Infinity },
  { partitionEveryMs: Infinity },
  { pauseEveryMs: Infinity },
  { lossChance: 0 },
  { duplicateChance: 0 },
  { isOrdered: true },
  { moveChance: 0 },
  { giveUpChance: 0 },
  { sessionChance: 0 },
  { maxSkewMs: 0 },
  { syncMeanMs: 0 },
  { instantWriteShare: 0 },
  { minDelayMs: 0, delayMeanMs: 1 },
  { siteCount: 1 },
  { siteCount: 2 },
  { siteCount: 3 },
  { queueCount: 1 },
];

/** Options that are halved. */
const HALVED_OPTIONS = ['clientCount', 'operationsPerClient'] as const;

/** A simpler run with the same fault, and its difference from the run of the seed. */
export interface ShrunkRun {
  readonly result: RunResult;
  readonly overrides: Partial<SimulationOptions>;
}

/** Leaves out and reduces what the fault does not need, in at most `maxRuns` runs. */
export function shrinkRun(
  faulty: RunResult,
  profile: Profile,
  options: SimulateOptions,
  maxRuns = 100,
): ShrunkRun {
  let best: ShrunkRun = { result: faulty, overrides: options.overrides ?? {} };
  let runs = 0;
  const tries = (change: Partial<SimulationOptions>): boolean => {
    if (runs >= maxRuns || !isEffective(best.result.options, change)) return false;
    runs += 1;
    const overrides = { ...best.overrides, ...change };
    const result = simulate(faulty.seed, profile, { ...options, overrides });
    if (result.violation?.checker !== faulty.violation?.checker) return false;
    best = { result, overrides };
    return true;
  };
  // Repeated until no run is simpler. A repetition of the simplest run must show that run, and no
  // simpler one.
  for (let before: ShrunkRun | undefined; before !== best;) {
    before = best;
    for (const change of SIMPLIFICATIONS) tries(change);
    for (const name of HALVED_OPTIONS) {
      for (let isSmaller = true; isSmaller;) {
        isSmaller = tries({ [name]: Math.ceil(best.result.options[name] / 2) });
      }
    }
  }
  return best;
}

function isEffective(options: SimulationOptions, change: Partial<SimulationOptions>): boolean {
  if (change.siteCount !== undefined && change.siteCount >= options.siteCount) return false;
  return Object.entries(change).some(
    ([name, value]) => options[name as keyof SimulationOptions] !== value,
  );
}

export function formatOverrides(overrides: Partial<SimulationOptions>): string {
  return JSON.stringify(overrides, (_, value: unknown) =>
    value === Infinity ? 'Infinity' : value,
  );
}
