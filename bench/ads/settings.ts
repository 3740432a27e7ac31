/** Under which circumstances an application that chases references is measured. */
import type { Placement } from '../../engines/wan.ts';
import type { CassandraOptions, Site } from '../../demo/shared/options.ts';
import type { Comparison } from '../../demo/shared/speculation/report.ts';
import { WORKLOADS, type Workload } from '../../demo/shared/speculation/workload.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { OpenLoopResult } from './open-loop.ts';

/** One row of the report. */
export interface Setting {
  /** Where the nodes or sites are. */
  readonly placement: Placement;
  /** The site that the client stands beside; on RedBlue, strong reads are ordered in Ireland, or in California. */
  readonly client: Site;
  /** On RedBlue, the site that the client asks where that is not its own. */
  readonly asks?: Site;
  /** How Cassandra is reached, where it is the store. */
  readonly cassandra?: CassandraOptions;
  readonly workload: Workload;
  /** Requests under way at a time. */
  readonly workers: number;
}

/** A setting with its comparison in each round. */
export interface Measured extends Setting {
  readonly rounds: readonly Comparison[];
  /** The longer comparisons that decide about throughput: of the loads where its workload peaks, none elsewhere. */
  readonly atPeak: readonly Comparison[];
  /** At equal rates, where the client stands as the paper's: of each workload's peak, none elsewhere. */
  readonly offered: readonly OpenLoopResult[];
}

/** Few enough that no request queues: latencies are compared here. */
export const UNLOADED_WORKERS = 4;

/** Requests at a time, at most: the sweep ends where throughput has fallen with speculation and without. */
const LOADS = [UNLOADED_WORKERS, 16, 48, 96, 192, 384, 768];
const QUICK_LOADS = [UNLOADED_WORKERS, 64];

/** How much is measured. */
export interface Plan {
  readonly settings: readonly Setting[];
  readonly rounds: number;
  /** How often the rounds are looked at, those at a peak too. */
  readonly looks: 1 | typeof LOOKS;
  readonly secondsPerSetting: number;
  readonly peak: PeakPlan;
  readonly offers: OfferPlan;
  /** What a cluster that has just been started carries out first, uncounted: under how many seconds of which workload. */
  readonly warmUp: { readonly workload: Workload; readonly seconds: number };
  /** The share of the paper's data. */
  readonly scale: number;
}

/** How throughput is compared where a workload peaks. Requests take long there, and rounds differ by a tenth. */
export interface PeakPlan {
  readonly rounds: number;
  readonly seconds: number;
  readonly sliceMs: number;
}

/** How latencies are compared at equal rates: shares of what the slower contender reaches at its peak. */
export interface OfferPlan {
  readonly shares: readonly number[];
  readonly rounds: number;
  /** How long each contender is asked in a round. */
  readonly seconds: number;
}

const OFFERS: OfferPlan = { shares: [0.25, 0.5, 0.75], rounds: 6, seconds: 4 };
const QUICK_OFFERS: OfferPlan = { shares: [0.5], rounds: 1, seconds: 1.5 };

const WARM_UP: Plan['warmUp'] = { workload: 'B', seconds: 10 };

const PEAK: PeakPlan = { rounds: 9, seconds: 6, sliceMs: 1500 };
const QUICK_PEAK: PeakPlan = { rounds: 1, seconds: 2, sliceMs: 1000 };

/** Where the nodes or sites are, and the way to Cassandra; without one the store is RedBlue. */
export interface Scene {
  readonly placement: Placement;
  readonly way?: CassandraOptions['way'] | undefined;
}

/** The paper's data and all loads; or, quickly, little of both. */
export function planOf(quick: boolean, { placement, way }: Scene): Plan {
  const { paper, others } = way === undefined ? redbluePlaces(placement) : cassandraPlaces(placement, way);
  const sweep = (workload: Workload, loads: readonly number[]): Setting[] =>
    loads.map((workers) => ({ ...paper, workload, workers }));
  const unloaded = others.flatMap((place) =>
    // Beside RedBlue's site as before: there the bar is that of the worst workload.
    (way === undefined && !quick && isColocated(place) ? WORKLOADS : (['B'] as const)).map((workload): Setting => ({
      ...place,
      workload,
      workers: UNLOADED_WORKERS,
    })),
  );
  if (quick)
    return {
      settings: [...sweep('B', QUICK_LOADS), ...unloaded],
      rounds: 2,
      looks: 1,
      secondsPerSetting: 2,
      peak: QUICK_PEAK,
      offers: QUICK_OFFERS,
      warmUp: { workload: 'B', seconds: 1 },
      scale: 0.02,
    };
  const settings = [...WORKLOADS.flatMap((workload) => sweep(workload, LOADS)), ...unloaded];
  const full = { secondsPerSetting: 3, peak: PEAK, offers: OFFERS, warmUp: WARM_UP, scale: 1 };
  return { settings, rounds: 7, looks: LOOKS, ...full };
}

/** Where a client stands, and what it asks. */
export type Place = Pick<Setting, 'placement' | 'client' | 'asks' | 'cassandra'>;

interface Places {
  /** The paper's, measured under all workloads and loads: the client asks another place than its own. */
  readonly paper: Place;
  /** Measured without load: beside the coordinator, which is friendlier, and elsewhere. */
  readonly others: readonly Place[];
}

/** The node or site that the paper's client asks: the nearest, 20 ms away, or 83. */
const COORDINATORS = { paper: 'frankfurt', twissandra: 'virginia' } as const satisfies Readonly<
  Record<Placement, Site>
>;

/** The paper's client in Ireland; one beside the site that it asks; and the one that is farthest from the leader. */
function redbluePlaces(placement: Placement): Places {
  const asks = COORDINATORS[placement];
  const beside: Place = { placement, client: asks };
  const far: Place = { placement, client: 'virginia' };
  return { paper: { placement, client: 'ireland', asks }, others: asks === 'virginia' ? [beside] : [beside, far] };
}

/** The paper's client in Ireland; one beside its coordinator; both with reads of three replicas. */
function cassandraPlaces(placement: Placement, way: CassandraOptions['way']): Places {
  const coordinator = COORDINATORS[placement];
  const place = (client: Site, readQuorum: CassandraOptions['readQuorum']): Place => ({
    placement,
    client,
    cassandra: { way, coordinator, readQuorum },
  });
  return { paper: place('ireland', 2), others: [place(coordinator, 2), place(coordinator, 3), place('ireland', 3)] };
}

/** Whether the client stands as the paper's does: in Ireland, asking elsewhere, of Cassandra two replicas. */
export function isPaper({ client, asks, cassandra }: Place): boolean {
  if (cassandra === undefined) return asks !== undefined;
  return client === 'ireland' && cassandra.readQuorum === 2;
}

/** Whether the setting belongs to the sweep over all loads: the paper's place. */
export const isSwept = isPaper;

/** Whether the client stands beside the site that it asks, and waits for the nearest quorum only. */
export function isColocated({ placement, client, asks, cassandra }: Place): boolean {
  if (cassandra === undefined) return asks === undefined && client === COORDINATORS[placement];
  return client === cassandra.coordinator && cassandra.readQuorum === 2;
}

/** Whether the client stands beside its coordinator, which asks all three replicas. */
export function isColocatedR3({ client, cassandra }: Place): boolean {
  return client === cassandra?.coordinator && cassandra.readQuorum === 3;
}

/** As in `frankfurt`, `ireland, asks frankfurt`, or `ireland, R = 2`. */
export function placeOf({ client, asks, cassandra }: Place): string {
  if (cassandra === undefined) return asks === undefined ? client : `${client}, asks ${asks}`;
  return `${client}, R = ${cassandra.readQuorum}`;
}

/** As in `B, client beside frankfurt, 4 at a time`. */
export function labelOf(setting: Setting): string {
  return `${setting.workload}, client beside ${placeOf(setting)}, ${setting.workers} at a time`;
}
