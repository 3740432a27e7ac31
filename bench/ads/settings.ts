/** Under which circumstances an application that chases references is measured. */
import type { Placement } from '../../engines/wan.ts';
import type { CassandraOptions, Site } from '../../demo/shared/options.ts';
import type { Comparison } from '../../demo/shared/chase/report.ts';
import type { Workload } from '../../demo/shared/chase/workload.ts';
import { median } from '../harness/statistics.ts';

/** One row of the report. */
export interface Setting {
  /** Where the nodes or sites are. */
  readonly placement: Placement;
  /** The site that the client stands beside; on RedBlue, strong reads are ordered in Ireland, or in California. */
  readonly client: Site;
  /** How Cassandra is reached, where it is the store. */
  readonly cassandra?: CassandraOptions;
  readonly workload: Workload;
  /** Requests under way at a time. */
  readonly workers: number;
}

/** A setting with its comparison in each round. */
export interface Measured extends Setting {
  readonly rounds: readonly Comparison[];
  /** The longer comparisons that decide about throughput: of the load where its workload peaks, none elsewhere. */
  readonly atPeak: readonly Comparison[];
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
  readonly peak: PeakPlan;
  /** The share of the paper's data. */
  readonly scale: number;
}

/** How throughput is compared where a workload peaks. Requests take long there, and rounds differ by a tenth. */
export interface PeakPlan {
  readonly rounds: number;
  readonly seconds: number;
  readonly sliceMs: number;
}

const PEAK: PeakPlan = { rounds: 9, seconds: 6, sliceMs: 1500 };
const QUICK_PEAK: PeakPlan = { rounds: 1, seconds: 2, sliceMs: 1000 };

/** Where the nodes or sites are, and the way to Cassandra; without one the store is RedBlue. */
export interface Scene {
  readonly placement: Placement;
  readonly way?: CassandraOptions['way'] | undefined;
}

/** The paper's data and all loads; or, quickly, little of both. */
export function planOf(quick: boolean, { placement, way }: Scene): Plan {
  const { near, others } = way === undefined ? REDBLUE[placement] : cassandraPlaces(placement, way);
  const sweep = (workload: Workload, loads: readonly number[]): Setting[] =>
    loads.map((workers) => ({ ...near, workload, workers }));
  const unloaded = others.map((place): Setting => ({ ...place, workload: 'B', workers: UNLOADED_WORKERS }));
  if (quick)
    return {
      settings: [...sweep('B', QUICK_LOADS), ...unloaded],
      rounds: 2,
      secondsPerSetting: 2,
      peak: QUICK_PEAK,
      scale: 0.02,
    };
  const settings = [...(['A', 'B', 'C'] as const).flatMap((workload) => sweep(workload, LOADS)), ...unloaded];
  return { settings, rounds: 6, secondsPerSetting: 3, peak: PEAK, scale: 1 };
}

/** Where a client stands, and what it asks. */
export type Place = Pick<Setting, 'placement' | 'client' | 'cassandra'>;

interface Places {
  /** Measured under all workloads and loads. */
  readonly near: Place;
  /** Measured without load. */
  readonly others: readonly Place[];
}

const REDBLUE: Readonly<Record<Placement, Places>> = {
  paper: { near: { placement: 'paper', client: 'frk' }, others: [{ placement: 'paper', client: 'vrg' }] },
  twissandra: { near: { placement: 'twissandra', client: 'vrg' }, others: [] },
};

/** The node that the paper's client asks: the nearest, 20 ms away, or 83. */
const COORDINATORS = { paper: 'frk', twissandra: 'vrg' } as const satisfies Readonly<Record<Placement, Site>>;

/** The paper's client in Ireland; one beside its coordinator; both with reads of three replicas. */
function cassandraPlaces(placement: Placement, way: CassandraOptions['way']): Places {
  const coordinator = COORDINATORS[placement];
  const place = (client: Site, readQuorum: CassandraOptions['readQuorum']): Place => ({
    placement,
    client,
    cassandra: { way, coordinator, readQuorum },
  });
  return { near: place('irl', 2), others: [place(coordinator, 2), place(coordinator, 3), place('irl', 3)] };
}

/** Whether the setting belongs to the sweep over all loads. */
export function isSwept({ placement, client, cassandra }: Place): boolean {
  if (cassandra === undefined) return client === REDBLUE[placement].near.client;
  return client === 'irl' && cassandra.readQuorum === 2;
}

/** Whether the client stands beside the site that it asks, and nobody waits for more than the nearest quorum. */
export function isColocated(place: Place): boolean {
  const { client, cassandra } = place;
  return cassandra === undefined ? isSwept(place) : client === cassandra.coordinator && cassandra.readQuorum === 2;
}

/** Whether the client stands beside its coordinator, which asks all three replicas. */
export function isColocatedR3({ client, cassandra }: Place): boolean {
  return client === cassandra?.coordinator && cassandra.readQuorum === 3;
}

/** Of each workload the load where most is done without speculation: where the store, or the machine, has no more. */
export function peaksOf<Each extends Measured>(measured: readonly Each[]): Each[] {
  const peaks = new Map<string, Each>();
  for (const each of measured.filter(isSwept)) {
    const peak = peaks.get(each.workload);
    if (peak === undefined || plainOpsPerSec(each) > plainOpsPerSec(peak)) peaks.set(each.workload, each);
  }
  return [...peaks.values()];
}

function plainOpsPerSec({ rounds }: Measured): number {
  return median(rounds.map(({ baseline }) => baseline.opsPerSec));
}

/** As in `frk`, or `irl, R = 2`. */
export function placeOf({ client, cassandra }: Place): string {
  return cassandra === undefined ? client : `${client}, R = ${cassandra.readQuorum}`;
}

/** As in `B, client beside frk, 4 at a time`. */
export function labelOf(setting: Setting): string {
  return `${setting.workload}, client beside ${placeOf(setting)}, ${setting.workers} at a time`;
}
