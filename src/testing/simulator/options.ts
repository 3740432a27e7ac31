/** The hostility of a run. The seed also determines the options, so that runs differ in kind. */
import { Random } from '../../server/service/collections/random.ts';
import { ID_TABLE_LIMITS } from '../../server/site/parts/lookups/id-table.ts';

/** The services of runs without an explicit one. `generated` ones are drawn from the seed. */
export type ScenarioName = 'classic' | 'roster' | 'generated' | 'rights';

/** Circumstances of one run. Times are in virtual milliseconds, chances in [0, 1]. */
export interface SimulationOptions {
  readonly siteCount: number;
  readonly clientCount: number;
  readonly operationsPerClient: number;
  /** The service that runs. */
  readonly scenario: ScenarioName;
  /** The most frequent operations of clients. No profile draws `stocks`, `chains` and `rivals`. */
  readonly workload: 'mixed' | 'bank' | 'queues' | 'hot' | 'stocks' | 'chains' | 'rivals';
  readonly queueCount: number;
  readonly minDelayMs: number;
  readonly delayMeanMs: number;
  readonly lossChance: number;
  readonly duplicateChance: number;
  /** Whether messages of one link keep their order. */
  readonly isOrdered: boolean;
  /** Mean time between partitions. `Infinity` means none. */
  readonly partitionEveryMs: number;
  readonly partitionMeanMs: number;
  /** Whether partitions cut one direction only. */
  readonly isPartitionOneWay: boolean;
  /** Whether partitions cut a site off from all others. */
  readonly isPartitionTotal: boolean;
  /** Mean time between crashes. `Infinity` means none. */
  readonly crashEveryMs: number;
  readonly downMeanMs: number;
  /**
   * Mean time between pauses, in which a site does nothing and loses nothing. `Infinity` means
   * none.
   */
  readonly pauseEveryMs: number;
  readonly pauseMeanMs: number;
  readonly syncMeanMs: number;
  /** Share of small writes that are durable at once. */
  readonly instantWriteShare: number;
  readonly segmentBytes: number;
  /** A group of this many entries does not wait for the previous write. */
  readonly largeGroup: number;
  /** Bytes written to a site's logs after which it makes a checkpoint. */
  readonly checkpointBytes: number;
  /** Mean time between moments when a site's disk is full. `Infinity` means none. */
  readonly fullEveryMs: number;
  readonly fullMeanMs: number;
  /** Chance that a crash damages the files of the site. */
  readonly damageChance: number;
  /** Maximum deviation of a site's clock. */
  readonly maxSkewMs: number;
  /** How far the clock of one site is ahead, beyond what the others accept. 0 means none. */
  readonly wildClockAheadMs: number;
  /** When that clock is set right. `Infinity` means at the end of all faults. */
  readonly wildClockUntilMs: number;
  /** Mean time between moments when the clock of a site is set. `Infinity` means none. */
  readonly clockStepEveryMs: number;
  /** Maximum step back of a clock. */
  readonly maxClockStepBackMs: number;
  /** Maximum drift of clocks, as a share of the time. */
  readonly maxDrift: number;
  /**
   * When a site and its disks are lost for good. Never the leader, and a majority remains.
   * `Infinity` means never.
   */
  readonly loseSiteAtMs: number;
  /** Chance that a client moves to another site if it waits too long. */
  readonly moveChance: number;
  /** Chance that a client uses a session. */
  readonly sessionChance: number;
  readonly thinkMeanMs: number;
  /** How long a client waits for a final view before it resends the operation. */
  readonly clientTimeoutMs: number;
  /** Chance that it gives the operation up instead and continues with the next. */
  readonly giveUpChance: number;
  readonly maxAttempts: number;
  /** How long a site waits for data that a session has seen. */
  readonly sessionTimeoutMs: number;
  /**
   * Commits that certification remembers, and operations in tables of identifiers: few, so that
   * they are trimmed.
   */
  readonly maxWindowCommits: number;
  readonly maxIdentifiers: number;
  /** Maximum number of operations of one client. More are refused until it acknowledges. */
  readonly maxOperationsPerClient: number;
  /** Bytes of retained replies. */
  readonly maxReplyBytes: number;
  /** Maximum number of operations that wait for the red order at a site. */
  readonly maxRedInFlight: number;
  /** Removals between two low watermarks. Few, so that removals are forgotten within a run. */
  readonly removalsPerWatermark: number;
  /**
   * The number of places whose digests are known at first: few, so that sites make room for more
   * within a run.
   */
  readonly digestPlaces: number;
  /**
   * Sizes inside the machines of a site (`MachineSizes`), and of its storage (`StorageSizes`): few
   * and small, so that a run goes beyond them.
   */
  readonly maxBatch: number;
  readonly maxPassedOn: number;
  readonly maxContended: number;
  readonly maxEarlyFields: number;
  readonly maxReceivedBytes: number;
  readonly maxSavedUnsent: number;
  readonly maxMarks: number;
  readonly maxFrameBytes: number;
  readonly maxTurnCharacters: number;
  readonly maxRequestedRows: number;
  /** Beyond so many bytes, rows leave the memory of a site that its store has. */
  readonly cacheBytes: number;
  /** The mean of each of the two times of a commit of rows: until it is visible, and synced. */
  readonly commitMeanMs: number;
  /**
   * How much memory the first site may use. Each other one may use a little more. A site that is
   * full gets twice as much by a restart.
   */
  readonly maxMemoryBytes: number;
  /** The time between two comparisons of rows of a site with another one, and their size. */
  readonly compareIntervalMs: number;
  readonly maxComparedRows: number;
  /** Maximum number of operations and of entries in flight to a site. */
  readonly maxWindow: number;
  /** Maximum number of undecided red operations of a site below the run of another. */
  readonly maxPipelineLength: number;
  /** Chance that the red log repeats entries to a site, leaves some out, or comes back shorter. */
  readonly redRepeatChance: number;
  readonly redJumpChance: number;
  readonly redRegressChance: number;
  /**
   * Mean time between moments when another holder takes over a site's log. `Infinity` means none.
   */
  readonly deposeEveryMs: number;
  /**
   * The maximum number of red logs. How many there are, and who leads and confirms each, is drawn
   * from the seed. Sites of a cluster, and etcd, have one.
   */
  readonly maxLogs: number;
  /** With several logs: the share of operations with rows of two keys. */
  readonly pairShare: number;
  /**
   * With several logs: the share of operations that use one row, which globals and locals have in
   * common.
   */
  readonly hotRowShare: number;
  /**
   * Mean delay of the blue operations of the site that is lost, beyond that of its other messages.
   * 0 means none.
   */
  readonly slowStreamMs: number;
  /** Whether sites check who the others are, as nodes of a cluster do. */
  readonly isCluster: boolean;
  /**
   * When a site joins, one is retired, one loses its directory, and one goes away. `Infinity` means
   * never.
   */
  readonly joinAtMs: number;
  readonly retireAtMs: number;
  readonly rebuildAtMs: number;
  readonly awayAtMs: number;
  readonly awayForMs: number;
  /**
   * When a site is to be retired that leads a log beside `main`. Such a change is void. `Infinity`
   * means never.
   */
  readonly retireLeaderAtMs: number;
  /**
   * When sites with leaders of red logs go away, and the logs are restored at the others.
   * `Infinity` means never.
   */
  readonly restoreAtMs: number;
  /**
   * Whether so many sites go away then that confirmed records may be lost, and that is accepted.
   */
  readonly acceptsLoss: boolean;
  /**
   * Whether two sites are the voters of each log beside `main`. If a loss is accepted, both voters
   * of a log are lost for good.
   */
  readonly hasFewVoters: boolean;
  /**
   * When a directory is copied that is put back, or run by a second node, once all others know
   * more.
   */
  readonly oldDirectoryAtMs: number;
  readonly twinAtMs: number;
  /**
   * The same for the leader of a log beside `main`, once all others know more of that log, and
   * nothing more of the site itself.
   */
  readonly oldLeaderAtMs: number;
  /** When a second node runs on a copy of a directory and no other site reaches it. */
  readonly distantTwinAtMs: number;
  /** For how long sites keep what one lacks that is away, and how much of it. */
  readonly keepForMs: number;
  readonly maxBacklogEntries: number;
  /** Whether an etcd keeps the red log, and its delay one way. */
  readonly isEtcd: boolean;
  readonly etcdDelayMeanMs: number;
  /**
   * Chances that a request or its reply is lost, and that a write lands when its connection is
   * over.
   */
  readonly etcdLossChance: number;
  readonly etcdLateChance: number;
  /** Mean time between faults of servers and connections, and how long they last. */
  readonly etcdFaultEveryMs: number;
  readonly etcdFaultMeanMs: number;
  /** When its disks are copied that are put back later. `Infinity` means never. */
  readonly etcdPutBackAtMs: number;
  /**
   * The places between two marks, up to which etcd is trimmed, and the groups that a request reads.
   */
  readonly etcdMarkEvery: number;
  readonly etcdPageGroups: number;
  /** Chance that a watch leaves out an event, as etcd never should. */
  readonly etcdDropChance: number;
}

/** Kinds of runs. */
export const PROFILES = [
  'calm',
  'lossy',
  'partitions',
  'crashes',
  'moves',
  'leaving',
  'loss',
  'clocks',
  'cluster',
  'etcd',
  'logs',
  'restored',
  'swarm',
] as const;
/** A kind of run. */
export type Profile = (typeof PROFILES)[number];

/** Draws the options of a run from its seed, within the limits of its profile. */
export function drawOptions(seed: number, profile: Profile = 'swarm'): SimulationOptions {
  if (profile === 'cluster') return { ...drawOptions(seed, 'swarm'), ...drawCluster(seed) };
  if (profile === 'restored') return { ...drawOptions(seed, 'cluster'), ...drawRestored(seed) };
  if (profile === 'etcd')
    return {
      ...drawOptions(seed, seed % 2 === 0 ? 'cluster' : 'swarm'),
      ...drawEtcd(seed),
    };
  if (profile === 'logs') return { ...drawOptions(seed, 'swarm'), ...drawLogs(seed) };
  const random = new Random(seed ^ 0x5eed);
  const has = (feature: Profile, chance = 0.6): boolean => {
    const isDrawn = random.chance(chance);
    return profile === feature || (profile === 'swarm' && isDrawn);
  };
  const faults = drawFaults(random, profile, has);
  return {
    ...faults,
    ...drawClocks(random, faults.wildClockAheadMs, has('clocks', 0.3)),
    ...drawChains(seed),
    ...drawLeaving(seed, profile),
    ...drawEngines(seed, profile),
    ...drawRights(seed),
    ...drawTables(seed),
    ...drawSizes(seed),
    ...drawRows(seed),
    maxLogs: 1,
    pairShare: 0.2,
    hotRowShare: 0,
    slowStreamMs: 0,
    ...NO_CLUSTER,
    ...NO_ETCD,
  };
}

/**
 * Draws what clients do, the network and its faults. A run repeats by its seed only as long as the
 * order of the draws stays the same.
 */
function drawFaults(
  random: Random,
  profile: Profile,
  has: (feature: Profile, chance?: number) => boolean,
) {
  // A client needs a reason to move, and a site is lost at a bad moment.
  const lossy = has('lossy') || profile === 'loss';
  const partitions = has('partitions') || profile === 'moves' || profile === 'leaving';
  const crashes = has('crashes') || profile === 'moves';
  const loses = has('loss', 0.15);
  const siteCount = loses ? random.pick([3, 3, 5]) : random.pick([1, 2, 3, 3, 3, 5]);
  return {
    siteCount,
    clientCount: random.between(2, 10),
    operationsPerClient: random.between(5, 20),
    workload: random.pick(['mixed', 'bank', 'queues'] as const),
    queueCount: random.between(1, 2),
    minDelayMs: random.between(0, 20),
    delayMeanMs: random.between(1, 60),
    lossChance: lossy ? random.fraction() * 0.3 : 0,
    duplicateChance: lossy ? random.fraction() * 0.3 : 0,
    isOrdered: !lossy || random.chance(0.3),
    partitionEveryMs: partitions ? random.between(200, 2000) : Infinity,
    partitionMeanMs: random.between(50, 1000),
    isPartitionOneWay: random.chance(0.5),
    isPartitionTotal: random.chance(0.3),
    crashEveryMs: crashes ? random.between(200, 2000) : Infinity,
    downMeanMs: random.between(20, 600),
    pauseEveryMs: partitions && random.chance(0.5) ? random.between(300, 3000) : Infinity,
    pauseMeanMs: random.between(50, 500),
    syncMeanMs: random.pick([0, 2, 10, 50, 150]),
    segmentBytes: random.pick([2_000, 8_000, 32_000]),
    checkpointBytes: random.pick([500, 4_000, 20_000, Infinity]),
    fullEveryMs: has('crashes') ? random.between(300, 3000) : Infinity,
    fullMeanMs: random.between(50, 1000),
    maxSkewMs: random.pick([0, 0, 20, 500]),
    wildClockAheadMs: has('clocks', 0.1) ? random.between(4000, 20_000) : 0,
    loseSiteAtMs: loses ? random.between(50, 3000) : Infinity,
    moveChance: has('moves') || loses ? 0.2 + random.fraction() * 0.6 : 0,
    sessionChance: random.pick([0, 0.5, 1]),
    thinkMeanMs: random.between(1, 100),
    clientTimeoutMs: random.between(100, 2000),
    maxAttempts: random.pick([1, 2, 5, 10]),
    largeGroup: random.pick([1, 3, 256]),
    instantWriteShare: random.pick([0, 0.5, 1]),
    maxWindow: random.pick([1, 2, 8, 1000]),
    scenario: random.pick(['classic', 'classic', 'roster', 'generated'] as const),
    sessionTimeoutMs: random.pick([100, 300, 1000]),
    maxWindowCommits: random.pick([5, 20, 50]),
    maxIdentifiers: random.pick([40, 80]),
    maxOperationsPerClient: random.pick([3, 1000, 1000]),
    maxReplyBytes: random.pick([500, 1e6, 1e6]),
    maxRedInFlight: random.pick([2, Infinity, Infinity]),
    removalsPerWatermark: random.pick([1, 3, 256]),
    damageChance: crashes ? random.pick([0, 0.1, 0.5]) : 0,
  };
}

/** The number of red logs of a run of the profile `logs`, at most. */
const MAX_LOGS = 4;

/**
 * Draws runs with several red logs, in a swarm of other faults. Their rows are those of the classic
 * service, since only that one has partitions.
 */
function drawLogs(seed: number): Partial<SimulationOptions> {
  const random = new Random(seed ^ 0x1095);
  return {
    maxLogs: MAX_LOGS,
    pairShare: random.pick([0, 0.1, 0.3]),
    siteCount: random.pick([2, 3, 3, 3, 5]),
    scenario: random.pick(['classic', 'classic', 'classic', 'rights'] as const),
    ...drawRareLogs(new Random(seed ^ 0x5a5e)),
  };
}

/**
 * Draws one row that is held most of the time, or a site that is lost while its holds are there and
 * its blue operations are not.
 */
function drawRareLogs(random: Random): Partial<SimulationOptions> {
  const chance = random.fraction();
  // Each execution waits for those before it. With one message or one commit at a time that takes
  // minutes, which is slow and no fault.
  if (chance < 0.1)
    return {
      scenario: 'classic',
      hotRowShare: random.pick([0.4, 0.8]),
      pairShare: 0.3,
      maxWindow: 1000,
      maxWindowCommits: 50,
    };
  return chance < 0.2 ? drawSlowStreams(random) : {};
}

/**
 * All that the lost site has sent arrives, however late. No site can close it, so what it takes
 * with it would be waited for until the end.
 */
function drawSlowStreams(random: Random): Partial<SimulationOptions> {
  return {
    scenario: 'classic',
    workload: random.pick(['mixed', 'bank'] as const),
    siteCount: random.pick([3, 3, 5]),
    pairShare: 0.5,
    loseSiteAtMs: random.between(100, 2500),
    slowStreamMs: random.between(100, 2000),
    moveChance: 0.5,
    maxWindow: 1000,
    wildClockAheadMs: 0,
    lossChance: 0,
    partitionEveryMs: Infinity,
    crashEveryMs: Infinity,
    fullEveryMs: Infinity,
    deposeEveryMs: Infinity,
  };
}

const NO_ETCD = {
  isEtcd: false,
  etcdDelayMeanMs: 0,
  etcdLossChance: 0,
  etcdLateChance: 0,
  etcdFaultEveryMs: Infinity,
  etcdFaultMeanMs: 0,
  etcdPutBackAtMs: Infinity,
  etcdDropChance: 0,
} as const;

/**
 * Draws the faults of an etcd and its clients. No clock is ahead then: sites do not check stamps of
 * each other before etcd has the records.
 */
function drawEtcd(seed: number): Partial<SimulationOptions> {
  const random = new Random(seed ^ 0xe7cd);
  return {
    isEtcd: true,
    etcdDelayMeanMs: random.between(1, 40),
    etcdLossChance: random.pick([0, 0.05, 0.2]),
    etcdLateChance: random.pick([0, 0.1, 0.4]),
    etcdFaultEveryMs: random.pick([Infinity, random.between(300, 3000)]),
    etcdFaultMeanMs: random.between(50, 1500),
    etcdPutBackAtMs: random.chance(0.2) ? random.between(50, 2000) : Infinity,
    redRepeatChance: 0,
    redJumpChance: 0,
    redRegressChance: 0,
    wildClockAheadMs: 0,
    damageChance: 0,
  };
}

const NO_CLUSTER = {
  isCluster: false,
  joinAtMs: Infinity,
  retireAtMs: Infinity,
  rebuildAtMs: Infinity,
  awayAtMs: Infinity,
  awayForMs: 0,
  retireLeaderAtMs: Infinity,
  restoreAtMs: Infinity,
  acceptsLoss: false,
  hasFewVoters: false,
  oldDirectoryAtMs: Infinity,
  twinAtMs: Infinity,
  oldLeaderAtMs: Infinity,
  distantTwinAtMs: Infinity,
  keepForMs: Infinity,
  maxBacklogEntries: Infinity,
} as const;

/** Draws the events of the sites of a cluster, in a swarm of other faults. */
function drawCluster(seed: number): Partial<SimulationOptions> {
  const random = new Random(seed ^ 0xc105);
  const at = (chance: number): number =>
    random.chance(chance) ? random.between(20, 1500) : Infinity;
  return {
    isCluster: true,
    siteCount: random.pick([2, 3, 3, 3, 4]),
    operationsPerClient: random.between(15, 30),
    thinkMeanMs: random.between(20, 120),
    joinAtMs: at(0.5),
    retireAtMs: at(0.3),
    rebuildAtMs: at(0.5),
    awayAtMs: at(0.3),
    awayForMs: random.between(500, 3000),
    oldDirectoryAtMs: at(0.4),
    twinAtMs: at(0.3),
    keepForMs: random.pick([500, 1500, Infinity]),
    maxBacklogEntries: random.pick([10, 100, Infinity]),
    distantTwinAtMs: at(0.3),
    loseSiteAtMs: Infinity,
    damageChance: 0,
  };
}

/**
 * Draws runs in which the red logs are restored at other sites. A node on an old directory would
 * have to follow the generation first. A faulty red log does not report its end, and nothing leads
 * it.
 */
function drawRestored(seed: number): Partial<SimulationOptions> {
  const random = new Random(seed ^ 0x4e57);
  return {
    maxLogs: random.pick([1, 3, 3]),
    siteCount: random.pick([2, 3, 3, 3, 4, 5]),
    scenario: 'classic',
    pairShare: random.pick([0.1, 0.3, 0.5]),
    restoreAtMs: random.between(100, 2000),
    acceptsLoss: random.chance(0.4),
    oldDirectoryAtMs: Infinity,
    twinAtMs: Infinity,
    distantTwinAtMs: Infinity,
    wildClockAheadMs: 0,
    clockStepEveryMs: Infinity,
    redRepeatChance: 0,
    redJumpChance: 0,
    redRegressChance: 0,
  };
}

/**
 * Draws tables for some runs that never forget an operation. Then an operation that expires without
 * an acknowledgement is a fault.
 */
function drawTables(seed: number): Partial<SimulationOptions> {
  if (!new Random(seed ^ 0x1d5).chance(0.25)) return {};
  const {
    maxOperations,
    maxOperationsPerClient = Infinity,
    maxBytesPerClient = Infinity,
  } = ID_TABLE_LIMITS;
  return {
    maxIdentifiers: maxOperations,
    maxOperationsPerClient,
    maxReplyBytes: maxBytesPerClient,
  };
}

/**
 * Draws sizes inside a site that users do not set. It uses a generator of its own, so that other
 * options stay the same for a seed.
 */
function drawSizes(seed: number) {
  const random = new Random(seed ^ 0x512e);
  return {
    digestPlaces: random.pick([4, 8, 64, 1024]),
    maxBatch: random.pick([1, 3, 256]),
    maxPassedOn: random.pick([2, 10, 1000]),
    maxContended: random.pick([1, 4, 256]),
    maxEarlyFields: random.pick([1, 2, 1024]),
    maxReceivedBytes: random.pick([500, 64 << 20]),
    maxSavedUnsent: random.pick([1, 4096]),
    maxFrameBytes: random.pick([500, 2000, 512 * 1024]),
    maxRequestedRows: random.pick([1, 4, 16]),
    maxMarks: random.pick([2, 8, 1024]),
    etcdMarkEvery: random.pick([1, 4, 1024]),
    etcdPageGroups: random.pick([1, 2, 8]),
    maxMemoryBytes: random.chance(0.2) ? random.pick([20_000, 50_000]) : Infinity,
    compareIntervalMs: random.pick([30, 100, 400]),
    maxComparedRows: random.pick([1, 3, 1000]),
  };
}

/**
 * Draws how sites keep their rows. It uses a generator of its own, so that other options stay the
 * same for a seed.
 */
function drawRows(seed: number) {
  const random = new Random(seed ^ 0x7075);
  return {
    cacheBytes: random.pick([0, 1000, 10_000]),
    maxTurnCharacters: random.pick([1, 300, 128 * 1024]),
    commitMeanMs: random.pick([0, 5, 50, 500]),
  };
}

/**
 * Draws limits by rights. It uses a generator of its own, so that other options stay the same for a
 * seed. In half of the runs sites are near each other.
 */
function drawRights(seed: number): Partial<SimulationOptions> {
  const random = new Random(seed ^ 0x219);
  if (!random.chance(0.2)) return {};
  if (random.chance(0.5)) return { scenario: 'rights' };
  const trips = {
    minDelayMs: 0,
    delayMeanMs: random.between(1, 8),
    syncMeanMs: random.pick([0, 2]),
  };
  const near = { scenario: 'rights', ...trips, maxWindow: 1000 } as const;
  return random.chance(0.25) ? { ...near, ...CROWD_OPTIONS } : near;
}

/** Clients at all sites retry before an answer can arrive, so an operation is always in flight. */
const CROWD_OPTIONS: Partial<SimulationOptions> = {
  delayMeanMs: 0.3,
  syncMeanMs: 0,
  siteCount: 3,
  clientCount: 10,
  operationsPerClient: 40,
  thinkMeanMs: 2,
  clientTimeoutMs: 8,
  giveUpChance: 0,
  maxRedInFlight: Infinity,
  queueCount: 1,
};

/**
 * Draws faults of logs of other engines. It uses a generator of its own, so that other options stay
 * the same for a seed.
 */
function drawEngines(seed: number, profile: Profile) {
  const random = new Random(seed ^ 0x109);
  const isDrawn = profile === 'crashes' || profile === 'swarm';
  return {
    redRepeatChance: random.pick([0, 0.05, 0.5]),
    redJumpChance: isDrawn ? random.pick([0, 0, 0, 0.03]) : 0,
    redRegressChance: isDrawn ? random.pick([0, 0, 0, 0.02]) : 0,
    deposeEveryMs: isDrawn && random.chance(0.3) ? random.between(300, 3000) : Infinity,
  };
}

/**
 * Draws clients that soon give up. It uses a generator of its own, so that other options stay the
 * same for a seed.
 */
function drawLeaving(
  seed: number,
  profile: Profile,
): Partial<SimulationOptions> & { readonly giveUpChance: number } {
  const random = new Random(seed ^ 0x1eaf);
  const leaves = profile === 'leaving' || (profile === 'swarm' && random.chance(0.4));
  if (!leaves) return { giveUpChance: 0 };
  return {
    giveUpChance: random.pick([0.1, 0.3, 0.7]),
    clientTimeoutMs: random.between(5, 200),
  };
}

/**
 * Draws runs in which all clients write the same rows, and the maximum length of a pipeline. It
 * uses a generator of its own, so that other options stay the same for a seed.
 */
function drawChains(
  seed: number,
): Partial<SimulationOptions> & { readonly maxPipelineLength: number } {
  const random = new Random(seed ^ 0xc4a8);
  const maxChain = random.pick([0, 1, 3, 64]);
  return random.chance(0.25)
    ? { maxPipelineLength: maxChain, workload: 'hot' }
    : { maxPipelineLength: maxChain };
}

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Draws clocks that are set and drift. A wild one is sometimes years ahead. */
function drawClocks(random: Random, wildMs: number, areSet: boolean) {
  const years = random.pick([0, 0, 10, 400]);
  return {
    wildClockAheadMs: wildMs === 0 ? 0 : wildMs + years * YEAR_MS,
    wildClockUntilMs: random.pick([Infinity, random.between(200, 3000)]),
    clockStepEveryMs: areSet ? random.between(200, 2000) : Infinity,
    maxClockStepBackMs: random.pick([500, 60_000, YEAR_MS]),
    maxDrift: areSet ? random.pick([0, 0.001, 0.05]) : 0,
  };
}
