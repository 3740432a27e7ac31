/**
 * The settings of one place, round by round, and again as many rounds for settings with an
 * undecided goal.
 */
import type { Comparison } from '../../demo/shared/speculation/report.ts';
import { rotate } from '../harness/rotate.ts';
import { runAdaptiveRounds } from '../harness/adaptive-rounds.ts';
import { knownGainBars, reductionBars } from './goals.ts';
import type { OpenLoopResult } from './open-loop.ts';
import { peaksOf, WORKERS_BEFORE } from './peaks.ts';
import { UNLOADED_WORKERS, type Measured, type Plan, type Setting } from './settings.ts';

/** A setting while it is measured. */
export interface Measuring extends Measured {
  readonly rounds: Comparison[];
  readonly atPeak: Comparison[];
  readonly offered: OpenLoopResult[];
}

/** How long a setting is measured in one round. */
interface Extent {
  readonly round: number;
  /** The number of the round in messages, for example `round 3 of 7`. */
  readonly of: string;
  readonly seconds: number;
  readonly sliceMs?: number | undefined;
  readonly warmUpPairs: number;
}

/** Measures both contenders in one setting. */
export type Contest = (setting: Setting, extent: Extent) => Promise<Comparison>;

/**
 * Measures all settings in interleaved rounds. Settings without load get more rounds while it is
 * undecided how much speculation saves there. Then the settings at peaks are measured in longer
 * rounds.
 */
export async function measureRounds(
  here: readonly Measuring[],
  {
    rounds,
    looks,
    secondsPerSetting: seconds,
    peak,
  }: Pick<Plan, 'rounds' | 'looks' | 'secondsPerSetting' | 'peak'>,
  contest: Contest,
): Promise<void> {
  const { sliceMs } = peak;
  const unloaded = here.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const measureAll = async (round: number, of: string): Promise<void> => {
    for (const setting of rotate(round < rounds ? here : unloaded, round)) {
      const isHeavy = setting.workers > WORKERS_BEFORE;
      const long = isHeavy ? { seconds: peak.seconds, sliceMs } : { seconds };
      const warmUpPairs = warmUpPairsOf(setting, round === 0 ? 2 : 1);
      setting.rounds.push(await contest(setting, { round, of, ...long, warmUpPairs }));
    }
  };
  // Computes the bars of each place separately. If they are decided for each place, they are
  // decided for the worst one. Their names do not matter here.
  const reductions = (): ReturnType<typeof knownGainBars> =>
    Object.values(reductionBars('', here)).flat();
  await runAdaptiveRounds(measureAll, { rounds, looks, computeGoalResults: reductions });

  const peaks = peaksOf(here);
  const measurePeaks = async (round: number, of: string): Promise<void> => {
    for (const setting of rotate(peaks, round)) {
      const extent = { round, of: `at the peak, ${of}`, seconds: peak.seconds, sliceMs };
      setting.atPeak.push(
        await contest(setting, { ...extent, warmUpPairs: warmUpPairsOf(setting, 1) }),
      );
    }
  };
  await runAdaptiveRounds(measurePeaks, {
    rounds: peak.rounds,
    looks,
    computeGoalResults: () => knownGainBars(here),
  });
}

/**
 * A slice counts from the time at which each worker has ended one operation, which warms up many
 * workers.
 */
function warmUpPairsOf({ workers }: Setting, pairs: number): number {
  return workers > WORKERS_BEFORE ? 0 : pairs;
}
