/** The settings in which an application that follows references is measured. */
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
  /**
   * The site beside which the client is. On RedBlue, strong reads are ordered in Ireland, or in
   * California.
   */
  readonly client: Site;
  /** On RedBlue, the site that the client uses, if that is not its own. */
  readonly asks?: Site;
  /** How Cassandra is reached, where it is the store. */
  readonly cassandra?: CassandraOptions;
  /** Set where PostgreSQL is the store: its primary is in Virginia. */
  readonly binding?: 'postgres';
  readonly workload: Workload;
  /** Requests in flight at a time. */
  readonly workers: number;
}

/** A setting with its comparison in each round. */
export interface Measured extends Setting {
  readonly rounds: readonly Comparison[];
  /**
   * The longer comparisons that decide about throughput. Empty unless its workload peaks at this
   * load.
   */
  readonly atPeak: readonly Comparison[];
  /**
   * The comparisons at equal rates. Empty unless this is the peak of its workload, and the client
   * is where the paper's client is.
   */
  readonly offered: readonly OpenLoopResult[];
}

/** The load at which latencies are compared. It is so low that no request queues. */
export const UNLOADED_WORKERS = 4;

/**
 * Requests at a time. The sweep ends at the load where the throughput has fallen both with and
 * without speculation.
 */
const LOADS = [UNLOADED_WORKERS, 16, 48, 96, 192, 384, 768];
const QUICK_LOADS = [UNLOADED_WORKERS, 64];

/** How much is measured. */
export interface Plan {
  readonly settings: readonly Setting[];
  readonly rounds: number;
  /** How often the results are checked for a decision, also those at a peak. */
  readonly looks: 1 | typeof LOOKS;
  readonly secondsPerSetting: number;
  readonly peak: PeakPlan;
  readonly offers: OfferPlan;
  /** The warm-up of a cluster that was just started: a workload and its duration. */
  readonly warmUp: { readonly workload: Workload; readonly seconds: number };
  /** The share of the paper's data. */
  readonly scale: number;
}

/**
 * How throughput is compared where a workload peaks. Requests take long there, and rounds differ by
 * 10 %.
 */
export interface PeakPlan {
  readonly rounds: number;
  readonly seconds: number;
  readonly sliceMs: number;
}

/**
 * How latencies are compared at equal rates: shares of what the slower contender reaches at its
 * peak.
 */
export interface OfferPlan {
  readonly shares: readonly number[];
  readonly rounds: number;
  /** How long requests are sent to each contender in a round. */
  readonly seconds: number;
}

const OFFERS: OfferPlan = { shares: [0.25, 0.5, 0.75], rounds: 6, seconds: 4 };
const QUICK_OFFERS: OfferPlan = { shares: [0.5], rounds: 1, seconds: 1.5 };

const WARM_UP: Plan['warmUp'] = { workload: 'B', seconds: 10 };

const PEAK: PeakPlan = { rounds: 9, seconds: 6, sliceMs: 1500 };
const QUICK_PEAK: PeakPlan = { rounds: 1, seconds: 2, sliceMs: 1000 };

/**
 * Where the nodes or sites are, and the store: Cassandra with a way to it, PostgreSQL, or otherwise
 * RedBlue.
 */
export interface Scene {
  readonly placement: Placement;
  readonly binding?: 'postgres' | undefined;
  readonly way?: CassandraOptions['way'] | undefined;
}

/** Returns the paper's data and all loads, or with `quick` few of both. */
export function planOf(quick: boolean, scene: Scene): Plan {
  const { way, binding } = scene;
  const { paper, others } = placesOf(scene);
  const sweep = (workload: Workload, loads: readonly number[]): Setting[] =>
    loads.map((workers) => ({ ...paper, workload, workers }));
  const unloaded = others.flatMap((place) =>
    // Clients beside their RedBlue site run all workloads, because the older bar has the worst
    // workload.
    (way === undefined && binding === undefined && !quick && isColocated(place)
      ? WORKLOADS
      : (['B'] as const)
    ).map((workload): Setting => ({
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

/** The position of a client, and the site that it uses. */
export type Place = Pick<Setting, 'placement' | 'client' | 'asks' | 'cassandra' | 'binding'>;

interface Places {
  /**
   * The paper's place, measured with all workloads and loads. Its client uses another site than its
   * own.
   */
  readonly paper: Place;
  /** Measured without load: beside the coordinator, which is friendlier, and elsewhere. */
  readonly others: readonly Place[];
}

/**
 * The node or site that the paper's client uses: the nearest one, at a round trip of 20 ms or 83
 * ms.
 */
const COORDINATORS = { paper: 'frankfurt', twissandra: 'virginia' } as const satisfies Readonly<
  Record<Placement, Site>
>;

function placesOf({ placement, way, binding }: Scene): Places {
  if (binding === 'postgres') return postgresPlaces(placement);
  return way === undefined ? redbluePlaces(placement) : cassandraPlaces(placement, way);
}

/** Clients in Ireland and in Frankfurt, each beside a replica. */
function postgresPlaces(placement: Placement): Places {
  const place = (client: Site): Place => ({ placement, client, binding: 'postgres' });
  return { paper: place('ireland'), others: [place('frankfurt')] };
}

/**
 * The paper's client in Ireland; one beside the site that it asks; and the one that is farthest
 * from the leader.
 */
function redbluePlaces(placement: Placement): Places {
  const asks = COORDINATORS[placement];
  const beside: Place = { placement, client: asks };
  const far: Place = { placement, client: 'virginia' };
  return {
    paper: { placement, client: 'ireland', asks },
    others: asks === 'virginia' ? [beside] : [beside, far],
  };
}

/** The paper's client in Ireland; one beside its coordinator; both with reads of three replicas. */
function cassandraPlaces(placement: Placement, way: CassandraOptions['way']): Places {
  const coordinator = COORDINATORS[placement];
  const place = (client: Site, readQuorum: CassandraOptions['readQuorum']): Place => ({
    placement,
    client,
    cassandra: { way, coordinator, readQuorum },
  });
  return {
    paper: place('ireland', 2),
    others: [place(coordinator, 2), place(coordinator, 3), place('ireland', 3)],
  };
}

/**
 * Returns whether the client is like the paper's: in Ireland, using another site, and reading two
 * replicas of Cassandra. On PostgreSQL, only the primary is at another site.
 */
export function isPaper({ client, asks, cassandra, binding }: Place): boolean {
  if (binding === 'postgres') return client === 'ireland';
  if (cassandra === undefined) return asks !== undefined;
  return client === 'ireland' && cassandra.readQuorum === 2;
}

/** Whether the setting belongs to the sweep over all loads: the paper's place. */
export const isSwept = isPaper;

/**
 * Returns whether the client is beside the site that it uses, and waits only for the nearest
 * quorum.
 */
export function isColocated({ placement, client, asks, cassandra, binding }: Place): boolean {
  if (binding === 'postgres') return false;
  if (cassandra === undefined) return asks === undefined && client === COORDINATORS[placement];
  return client === cassandra.coordinator && cassandra.readQuorum === 2;
}

/** Returns whether the client is beside its coordinator, which reads all three replicas. */
export function isColocatedR3({ client, cassandra }: Place): boolean {
  return client === cassandra?.coordinator && cassandra.readQuorum === 3;
}

/** Formats a place: `frankfurt`, `ireland, asks frankfurt`, or `ireland, R = 2`. */
export function placeOf({ client, asks, cassandra }: Place): string {
  if (cassandra === undefined) return asks === undefined ? client : `${client}, asks ${asks}`;
  return `${client}, R = ${cassandra.readQuorum}`;
}

/** Formats a setting: `B, client beside frankfurt, 4 at a time`. */
export function labelOf(setting: Setting): string {
  return `${setting.workload}, client beside ${placeOf(setting)}, ${setting.workers} at a time`;
}
