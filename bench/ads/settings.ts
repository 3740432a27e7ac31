/** Under which circumstances an application that chases references is measured. */
import type { Site } from '../../demo/shared/options.ts';
import type { Comparison } from '../../demo/shared/chase/report.ts';
import type { Workload } from '../../demo/shared/chase/workload.ts';

/** One row of the report. */
export interface Setting {
  /** The site that the client stands beside; strong reads are ordered in Ireland. */
  readonly client: Site;
  readonly workload: Workload;
  /** Requests under way at a time. */
  readonly workers: number;
}

/** A setting with its comparison in each round. */
export interface Measured extends Setting {
  readonly rounds: readonly Comparison[];
}

/** Few enough that nobody queues: latencies are compared here. */
export const UNLOADED_WORKERS = 4;

/** Requests at a time, up to where more of them give no more throughput. */
const LOADS = [UNLOADED_WORKERS, 16, 48, 96];
const QUICK_LOADS = [UNLOADED_WORKERS, 64];

/** How much is measured. */
export interface Plan {
  readonly settings: readonly Setting[];
  readonly rounds: number;
  readonly secondsPerSetting: number;
  /** The share of the paper's data. */
  readonly scale: number;
}

/** The paper's data and all loads; or, quickly, little of both. */
export function planOf(quick: boolean): Plan {
  const sweep = (workload: Workload, loads: readonly number[]): Setting[] =>
    loads.map((workers) => ({ client: 'frk', workload, workers }));
  const far: Setting = { client: 'vrg', workload: 'B', workers: UNLOADED_WORKERS };
  if (quick) return { settings: [...sweep('B', QUICK_LOADS), far], rounds: 2, secondsPerSetting: 2, scale: 0.02 };
  const settings = [...(['A', 'B', 'C'] as const).flatMap((workload) => sweep(workload, LOADS)), far];
  return { settings, rounds: 5, secondsPerSetting: 3, scale: 1 };
}

/** As in `B, client beside frk, 4 at a time`. */
export function labelOf({ workload, client, workers }: Setting): string {
  return `${workload}, client beside ${client}, ${workers} at a time`;
}
