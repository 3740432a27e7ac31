/** The faults of a round, drawn from its seed alone. */
import type { Site } from '../../../engines/wan.ts';
import { Random } from '../../../src/server/service/collections/random.ts';

type Lane = 'clients' | 'network' | 'nodes' | 'etcd';

/** How a kind of fault is drawn. */
interface Kind {
  /**
   * What is disturbed: faults of one lane come one after the other, so that at most one node is
   * away by itself.
   */
  readonly lane: Lane;
  readonly lastsMs: readonly [number, number];
  /** How often it is drawn beside the others of its lane. */
  readonly weight: number;
  /** Never at the site that orders red operations. */
  readonly sparesLeader?: boolean;
}

export const FAULT_KINDS = {
  /** Clients cannot reach the site. */
  'clients-cut': { lane: 'clients', lastsMs: [500, 5_000], weight: 1 },
  /** Nothing passes between two sites, and connections stay open. */
  cut: { lane: 'network', lastsMs: [500, 8_000], weight: 3 },
  'cut-one-way': { lane: 'network', lastsMs: [500, 8_000], weight: 3 },
  /** Connections between two sites are reset, and refused. */
  sever: { lane: 'network', lastsMs: [100, 5_000], weight: 2 },
  /** Nothing passes between the site and the others. */
  isolate: { lane: 'network', lastsMs: [500, 8_000], weight: 2 },
  slow: { lane: 'network', lastsMs: [1_000, 8_000], weight: 2 },
  /** Killed with `kill -9`, and started again. */
  kill: { lane: 'nodes', lastsMs: [0, 3_000], weight: 4 },
  end: { lane: 'nodes', lastsMs: [0, 1_500], weight: 1 },
  freeze: { lane: 'nodes', lastsMs: [200, 6_000], weight: 3 },
  /** The clock of the node is minutes ahead or behind. */
  clock: { lane: 'nodes', lastsMs: [1_000, 6_000], weight: 2 },
  'full-disk': { lane: 'nodes', lastsMs: [1_000, 5_000], weight: 1 },
  /** A second process on the same directory. */
  'second-process': { lane: 'nodes', lastsMs: [0, 0], weight: 1 },
  /** A second process on a copy of the directory. */
  'copied-directory': { lane: 'nodes', lastsMs: [500, 2_000], weight: 1, sparesLeader: true },
  /** The directory is put back to an older copy, then rebuilt. */
  'old-copy': { lane: 'nodes', lastsMs: [3_000, 5_000], weight: 1, sparesLeader: true },
  /** The directory is deleted, then rebuilt. */
  'lost-directory': { lane: 'nodes', lastsMs: [0, 1_000], weight: 1, sparesLeader: true },
  /** Away for longer than the others keep what it lacks. */
  'long-absence': { lane: 'nodes', lastsMs: [9_000, 12_000], weight: 1, sparesLeader: true },
  /** Nothing passes between the site and the server of etcd beside it. */
  'etcd-cut': { lane: 'network', lastsMs: [500, 8_000], weight: 2 },
  /** Nothing passes between the site and any server of etcd. */
  'etcd-isolate': { lane: 'network', lastsMs: [500, 8_000], weight: 2 },
  /** Connections of the site to the server beside it are reset, and refused. */
  'etcd-sever': { lane: 'network', lastsMs: [100, 5_000], weight: 1 },
  'etcd-slow': { lane: 'network', lastsMs: [1_000, 8_000], weight: 1 },
  /** The server beside the site is killed with `kill -9`, and started again. */
  'etcd-kill': { lane: 'etcd', lastsMs: [0, 4_000], weight: 3 },
  'etcd-kill-leader': { lane: 'etcd', lastsMs: [0, 4_000], weight: 4 },
  'etcd-freeze': { lane: 'etcd', lastsMs: [200, 6_000], weight: 3 },
  /** All servers but that of the site are frozen. */
  'etcd-freeze-majority': { lane: 'etcd', lastsMs: [200, 6_000], weight: 1 },
  /** One server starts on an older copy of its disk. */
  'etcd-old-member': { lane: 'etcd', lastsMs: [1_000, 3_000], weight: 1 },
  /** The quota is used up, then freed as the alarm advises. */
  'etcd-full': { lane: 'etcd', lastsMs: [500, 3_000], weight: 1 },
  /** All servers start on older copies of their disks. No site is away at that time. */
  'etcd-old-disks': { lane: 'nodes', lastsMs: [2_000, 4_000], weight: 2 },
} as const satisfies Readonly<Record<string, Kind>>;

export type FaultKind = keyof typeof FAULT_KINDS;

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly site: Site;
  /** The other end of a link. */
  readonly peer: Site;
  /** After the fault before it in its lane. */
  readonly pauseMs: number;
  readonly lastsMs: number;
  /** Milliseconds of a clock or of a delay. */
  readonly amountMs: number;
}

export type Plan = Readonly<Record<Lane, readonly PlannedFault[]>>;

export interface PlanOptions {
  readonly seed: number;
  readonly lastsMs: number;
  readonly sites: readonly Site[];
  /** The sites that order red operations. */
  readonly leaders: readonly Site[];
  /** What the deployment can suffer. */
  readonly kinds: ReadonlySet<FaultKind>;
}

const LANES: readonly Lane[] = ['clients', 'network', 'nodes', 'etcd'];
const PAUSES_MS = {
  clients: [1_000, 5_000],
  network: [300, 2_500],
  nodes: [1_500, 5_000],
  etcd: [1_000, 4_000],
} as const;
const CLOCK_MS = [60_000, 300_000] as const;
const DELAY_MS = [200, 1_500] as const;

export function createPlan(options: PlanOptions): Plan {
  return {
    clients: drawLane('clients', options),
    network: drawLane('network', options),
    nodes: drawLane('nodes', options),
    etcd: drawLane('etcd', options),
  };
}

function drawLane(
  lane: Lane,
  { seed, lastsMs, sites, leaders, kinds }: PlanOptions,
): PlannedFault[] {
  const random = new Random(seed * LANES.length + LANES.indexOf(lane));
  const choices = Object.entries<Kind>(FAULT_KINDS).filter(
    ([name, kind]) => kind.lane === lane && kinds.has(name as FaultKind),
  );
  const bag = choices.flatMap(([name, { weight }]) =>
    Array.from({ length: weight }, () => name as FaultKind),
  );
  const faults: PlannedFault[] = [];
  if (bag.length === 0) return faults;
  for (let atMs = 0; ;) {
    const kind = random.pick(bag as [FaultKind, ...FaultKind[]]);
    const { lastsMs: range, sparesLeader = false }: Kind = FAULT_KINDS[kind];
    const site = random.pick(
      sites.filter((name) => !sparesLeader || !leaders.includes(name)) as [Site, ...Site[]],
    );
    const peer = random.pick(sites.filter((name) => name !== site) as [Site, ...Site[]]);
    const isClock = kind === 'clock';
    const sign = isClock && random.chance(0.5) ? -1 : 1;
    const [least, most]: readonly [number, number] = isClock ? CLOCK_MS : DELAY_MS;
    const amountMs = sign * random.between(least, most);
    const [pauseMin, pauseMax]: readonly [number, number] = PAUSES_MS[lane];
    const fault = {
      kind,
      site,
      peer,
      pauseMs: random.between(pauseMin, pauseMax),
      lastsMs: random.between(...range),
    };
    atMs += fault.pauseMs + fault.lastsMs;
    if (atMs > lastsMs) return faults;
    faults.push({ ...fault, amountMs });
  }
}
