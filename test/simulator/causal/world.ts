/**
 * A causal store of several sites in virtual time: the code of production behind a network, clocks
 * and servers that fail. A run is a function of its seed.
 */
import {
  CAUSAL_PARTS,
  CausalSite,
  type CausalAlarm,
  type CausalSiteOptions,
} from '../../../src/causal/causal-site.ts';
import { DEFAULT_LIMITS, type CausalLimits } from '../../../src/causal/limits.ts';
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import type {
  ApplyRequest,
  CallName,
  MergeRequest,
  PartitionAddress,
  PartitionCalls,
  PutRequest,
  Refusal,
} from '../../../src/causal/partition-calls.ts';
import {
  copyPartitionState,
  createPartitionState,
  type PartitionState,
} from '../../../src/causal/partition-state.ts';
import { Partition } from '../../../src/causal/partition.ts';
import { MICROSECONDS_PER_MS, withStamp, type Stamp } from '../../../src/causal/stamps.ts';
import { isAbsentAt, isVisible, type Version } from '../../../src/causal/version.ts';
import { EMPTY_CHAIN, getVersions } from '../../../src/causal/version-chain.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { SimulatedClient } from './client.ts';
import {
  FrontierChecker,
  getWriteId,
  type CausalViolation,
} from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import { SharedView, SimulatedGateway } from './gateway.ts';
import { CausalNetwork } from './network.ts';
import {
  drawOptions,
  FAILOVER_MS,
  KEEP_IDS_MS,
  MAX_CLOCK_SKEW_MS,
  REMOTE_TIMEOUT_MS,
  type CausalRunOptions,
} from './options.ts';

/** Parts of production that a planted fault replaces. */
export interface CausalFault {
  readonly parts?: Partial<typeof PARTS>;
}

const PARTS = { Partition, CausalSite, ...CAUSAL_PARTS };

export interface CausalRunResult {
  readonly seed: number;
  readonly options: CausalRunOptions;
  readonly violation: CausalViolation | undefined;
  /** What the run went through, by name. */
  readonly coverage: Readonly<Record<string, number>>;
}

/** A server: a partition with the clock of its machine. */
interface Server {
  readonly partition: Partition;
  /** All writes that it made, in their order. */
  readonly writes: { readonly id: string; readonly stamp: Stamp }[];
  /** The stamp of the last own write that another site has ever had. */
  replicatedUpTo: Stamp;
  clockOffsetMs: number;
  failovers: number;
  isAway: boolean;
}

interface LostWrite {
  readonly id: string;
  readonly site: number;
  readonly partition: number;
  readonly stamp: Stamp;
  readonly atMs: number;
}

const MANY_ENTRIES = 1_000;
const HEALED_MS = 1_000;
const EPOCH_MS = 1_000_000;
const ROUND_MS = 20;
const LATEST_END_MS = 60_000;

/** Runs one seed. `overrides` take the place of what is drawn. */
export function simulateCausal(
  seed: number,
  overrides: Partial<CausalRunOptions> = {},
  fault: CausalFault = {},
): CausalRunResult {
  const random = new Random(seed);
  const options = { ...drawOptions(random), ...overrides };
  return new CausalWorld(seed, { options, random, fault }).run();
}

export class CausalWorld {
  readonly options: CausalRunOptions;
  readonly random: Random;
  readonly timeline = new Timeline();
  readonly checker: FrontierChecker;
  readonly keys: readonly string[];
  readonly #seed: number;
  readonly #parts: typeof PARTS;
  readonly #limits: CausalLimits;
  readonly #servers: readonly (readonly Server[])[];
  readonly #network: CausalNetwork;
  readonly #gateways: SimulatedGateway[][];
  readonly #sharedViews: readonly SharedView[];
  readonly #counts = new Map<string, number>();
  readonly #lostWrites = new Set<string>();
  /** Deletes and values that expire, by key, with the time from which they may be forgotten. */
  readonly #removals = new Map<string, { readonly stamp: Stamp; readonly from: Stamp }[]>();
  readonly #partitionsSetBack = new Set<number>();
  readonly #setBackAtMs = new Map<number, number>();
  /** Writes that no other site had when they were lost, for the alarm that has to come. */
  readonly #unreported: LostWrite[] = [];
  readonly #lossAlarmsAtMs = new Map<string, number>();
  readonly acknowledged = new Set<string>();
  #violation: CausalViolation | undefined;
  #isHealed = false;
  restarts = 0;

  constructor(
    seed: number,
    {
      options,
      random,
      fault,
    }: { readonly options: CausalRunOptions; readonly random: Random; readonly fault: CausalFault },
  ) {
    this.#seed = seed;
    this.options = options;
    this.random = random;
    this.#parts = { ...PARTS, ...fault.parts };
    this.#limits = createLimits(options);
    this.keys = Array.from({ length: options.keyCount }, (_, key) => `k${key}`);
    this.checker = new FrontierChecker({
      isLost: (id) => this.#lostWrites.has(id),
      mayBeForgotten: (key, { stamp }) => this.mayBeForgotten(key, stamp),
      mayBeRepeated: (key) =>
        this.#partitionsSetBack.has(findPartition(key, options.partitionCount)),
    });
    const { siteCount, partitionCount } = options;
    this.#servers = Array.from({ length: siteCount }, (_, site) =>
      Array.from({ length: partitionCount }, () => this.#createServer(site)),
    );
    const servers = {
      execute: <N extends CallName>(
        address: PartitionAddress,
        name: N,
        request: PartitionCalls[N]['request'],
      ) => this.#execute(address, name, request),
      getSiteView: (site: number) =>
        this.#sharedView(site).view ?? { refused: 'STARTING' as const },
    };
    this.#network = new CausalNetwork({ options, random, timeline: this.timeline, servers });
    this.#sharedViews = Array.from({ length: siteCount }, () => new SharedView());
    this.#gateways = Array.from({ length: siteCount }, (_, site) =>
      Array.from({ length: options.gatewaysPerSite }, () => this.#createGateway(site)),
    );
  }

  run(): CausalRunResult {
    const clients = this.#startClients();
    for (const [site, gateways] of this.#gateways.entries())
      for (const index of gateways.keys()) this.#runRounds(site, index);
    this.#planClockSteps();
    this.#planSetBacks();
    this.#planFlushes();
    this.#planRestarts();
    this.#planCuts();
    const areDone = (): boolean => clients.every((client) => client.isDone);
    this.timeline.run(LATEST_END_MS, () => this.#violation !== undefined || areDone());
    if (this.#violation === undefined) this.#finish();
    for (const [name, count] of this.#network.counts) this.count(name, count);
    return {
      seed: this.#seed,
      options: this.options,
      violation: this.#violation,
      coverage: Object.fromEntries(this.#counts),
    };
  }

  getSite(site: number, gateway = 0): CausalSite {
    return this.#getGateway(site, gateway).site;
  }

  #getGateway(site: number, gateway: number): SimulatedGateway {
    return this.#gateways[site]?.[gateway] as SimulatedGateway;
  }

  #sharedView(site: number): SharedView {
    return this.#sharedViews[site] as SharedView;
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  report(violation: CausalViolation | undefined): void {
    this.#violation ??= violation;
  }

  /** Whether a partition has lost state: only then may a read be refused for that. */
  get hasLostState(): boolean {
    return this.#partitionsSetBack.size > 0;
  }

  /** Whether the clients should stop. */
  get isEnding(): boolean {
    return this.#isHealed;
  }

  #noteRemoval({ key, kind, ttl }: PutRequest, stamp: Stamp): void {
    if (kind === 'value' && ttl === 0) return;
    const removals = this.#removals.get(key) ?? [];
    removals.push({ stamp, from: stamp + ttl + this.#limits.keepTombstonesFor });
    this.#removals.set(key, removals);
  }

  /** Whether a delete from this stamp on may be forgotten by now (CAUSAL-18). */
  mayBeForgotten(key: string, stamp: Stamp): boolean {
    // The clock of a partition may be ahead.
    const now = this.#trueStamp + this.#limits.maxClockSkew;
    return (this.#removals.get(key) ?? []).some(
      (removal) => removal.stamp >= stamp && removal.from <= now,
    );
  }

  get #trueStamp(): Stamp {
    return Math.round((EPOCH_MS + this.timeline.nowMs) * MICROSECONDS_PER_MS);
  }

  #startClients(): readonly SimulatedClient[] {
    const { siteCount, clientsPerSite, gatewaysPerSite } = this.options;
    const count = siteCount * clientsPerSite;
    return Array.from({ length: count }, (_, index) => {
      const client = new SimulatedClient(this, {
        name: `c${index}`,
        site: index % siteCount,
        gateway: Math.floor(index / siteCount) % gatewaysPerSite,
      });
      client.start();
      return client;
    });
  }

  #createServer(site: number): Server {
    const options = { site, siteCount: this.options.siteCount, limits: this.#limits };
    return {
      partition: new this.#parts.Partition(options),
      writes: [],
      replicatedUpTo: 0,
      clockOffsetMs: this.#drawOffsetMs(),
      failovers: 0,
      isAway: false,
    };
  }

  #createGateway(site: number): SimulatedGateway {
    return new SimulatedGateway({
      site: this.#createSite(site),
      shared: this.#sharedView(site),
      nowMs: () => this.timeline.nowMs,
      exchange: (execute, onReply) => this.#network.askStore(site, execute, onReply),
    });
  }

  #createSite(site: number): CausalSite {
    const offsetMs = this.#drawOffsetMs();
    const options: CausalSiteOptions = {
      site,
      siteCount: this.options.siteCount,
      partitionCount: this.options.partitionCount,
      limits: this.#limits,
      port: this.#network.createPort(site),
      getTime: () => ({
        elapsed: Math.round(this.timeline.nowMs * MICROSECONDS_PER_MS),
        wall: this.#trueStamp + (this.#isHealed ? 0 : offsetMs * MICROSECONDS_PER_MS),
      }),
      onAlarm: (alarm) => this.#noteAlarm(site, alarm),
    };
    return new this.#parts.CausalSite(options, this.#parts);
  }

  #drawOffsetMs(): number {
    return (this.random.fraction() - 0.5) * this.options.clockOffsetMs;
  }

  #noteAlarm(site: number, { code, partition }: CausalAlarm): void {
    this.count(`alarm ${code}`);
    if (code === 'dropped-entries' || code === 'clock') return;
    if (code === 'lost-writes')
      this.#lossAlarmsAtMs.set(`${site} ${partition}`, this.timeline.nowMs);
    if (code === 'lost-writes' && this.hasLostState) return;
    this.report({ checker: 'alarms', message: `alarm ${code} of partition ${partition}` });
  }

  #execute<N extends CallName>(
    { site, partition }: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
  ): PartitionCalls[N]['reply'] | Refusal | undefined {
    const server = this.#getServer(site, partition);
    if (server.isAway) return undefined;
    const offset = Math.round(server.clockOffsetMs * MICROSECONDS_PER_MS);
    const now = this.#trueStamp + offset;
    const keyCount = server.partition.state.chains.size;
    const overwritten =
      name === 'put' ? findVisible(server.partition, request as PutRequest) : undefined;
    const reply = server.partition.execute(name, request, now);
    if (name === 'apply' && !('refused' in reply))
      this.#noteReplicated(partition, request as ApplyRequest);
    // Whoever pulls or copies has it, once the reply arrives.
    if ('promise' in reply)
      server.replicatedUpTo = Math.max(server.replicatedUpTo, reply.cursor.stamp);
    if (name === 'scan')
      server.replicatedUpTo = Math.max(server.replicatedUpTo, server.partition.state.lastOwnStamp);
    if (name === 'merge') this.count('forgotten keys', countForgottenKeys(request as MergeRequest));
    if (name === 'state' && server.partition.state.chains.size < keyCount)
      this.count('tombstones dropped');
    if ('refused' in reply) this.count(`${name} answered ${reply.refused}`);
    else if ('stamp' in reply && name === 'put') {
      server.writes.push({ id: (request as PutRequest).id, stamp: reply.stamp });
      this.#noteRemoval(request as PutRequest, reply.stamp);
      this.#checkOverwrite(reply.stamp, overwritten, request as PutRequest);
    }
    return reply;
  }

  #noteReplicated(partition: number, { source, cursor }: ApplyRequest): void {
    const server = this.#getServer(source, partition);
    server.replicatedUpTo = Math.max(server.replicatedUpTo, cursor.stamp);
  }

  /**
   * CAUSAL-2: what was visible is overwritten, also if it came from a site whose clock is ahead.
   */
  #checkOverwrite(stamp: Stamp, overwritten: Version | undefined, { id }: PutRequest): void {
    if (overwritten === undefined || stamp >= overwritten.stamp || getWriteId(overwritten) === id)
      return;
    const isRepetition = overwritten.stamp > stamp && this.#counts.has('repeated writes');
    if (isRepetition) return;
    this.report({
      checker: 'overwrite',
      message: `${id} got ${stamp}, below the visible ${overwritten.stamp}`,
    });
  }

  #getServer(site: number, partition: number): Server {
    return this.#servers[site]?.[partition] as Server;
  }

  #runRounds(site: number, index: number): void {
    this.#getGateway(site, index).runRound();
    this.timeline.schedule(ROUND_MS, () => this.#runRounds(site, index));
  }

  #repeat(everyMs: number, run: () => void): void {
    if (everyMs === Infinity) return;
    this.timeline.schedule(this.random.exponential(everyMs), () => {
      if (this.#isHealed) return;
      run();
      this.#repeat(everyMs, run);
    });
  }

  #pickServer(): { readonly site: number; readonly partition: number; readonly server: Server } {
    const site = this.random.between(0, this.options.siteCount - 1);
    const partition = this.random.between(0, this.options.partitionCount - 1);
    return { site, partition, server: this.#getServer(site, partition) };
  }

  #planClockSteps(): void {
    const { clockStepEveryMs, clockStepMs } = this.options;
    this.#repeat(clockStepEveryMs, () => {
      this.count('clock steps');
      this.#pickServer().server.clockOffsetMs = (this.random.fraction() - 0.5) * clockStepMs;
    });
  }

  /** A failover to a copy that lacks the last writes. */
  #planSetBacks(): void {
    this.#repeat(this.options.setBackEveryMs, () => {
      const { site, partition, server } = this.#pickServer();
      const backup = copyPartitionState(server.partition.state);
      const savedWrites = server.writes.length;
      const { failovers } = server;
      this.timeline.schedule(this.random.exponential(150), () => {
        // A copy from before an earlier failover is no copy of this server any more.
        if (server.isAway || server.failovers !== failovers || this.#isHealed) return;
        server.isAway = true;
        this.timeline.schedule(FAILOVER_MS, () => {
          this.#setBack({ site, partition, savedWrites }, backup);
          server.isAway = false;
          this.count('set back');
        });
      });
    });
  }

  /** As by `FLUSHALL`: the server goes on at once. */
  #planFlushes(): void {
    this.#repeat(this.options.flushEveryMs, () => {
      const { site, partition, server } = this.#pickServer();
      // While another site copies from here, both would lose what one of them has overwritten
      // meanwhile.
      const isRecent =
        this.timeline.nowMs - (this.#setBackAtMs.get(partition) ?? -Infinity) < HEALED_MS;
      if (server.isAway || isRecent) return;
      this.#setBack(
        { site, partition, savedWrites: 0 },
        createPartitionState(this.options.siteCount),
      );
      this.count('flushed');
    });
  }

  #setBack(
    { site, partition, savedWrites }: { site: number; partition: number; savedWrites: number },
    backup: PartitionState,
  ): void {
    const server = this.#getServer(site, partition);
    this.#noteLostWrites({ site, partition, savedWrites }, backup);
    server.partition.state = backup;
    server.failovers += 1;
    this.#partitionsSetBack.add(partition);
    this.#setBackAtMs.set(partition, this.timeline.nowMs);
  }

  /** Writes that no other site has are lost. Others must come back. */
  #noteLostWrites(
    { site, partition, savedWrites }: { site: number; partition: number; savedWrites: number },
    { chains: backup, lastOwnStamp }: PartitionState,
  ): void {
    const { partition: lost, writes, replicatedUpTo } = this.#getServer(site, partition);
    const others = this.#servers.filter((_, other) => other !== site);
    const copies = others.map((servers) => (servers[partition] as Server).partition.state.chains);
    const remaining = new Set([backup, ...copies].flatMap(getWriteIds));
    // What was overwritten is in no chain any more, and may be needed again.
    const known = Math.max(lastOwnStamp, replicatedUpTo);
    const gone = writes.slice(savedWrites).filter(({ stamp }) => stamp > known);
    for (const write of gone)
      this.#unreported.push({ ...write, site, partition, atMs: this.timeline.nowMs });
    for (const id of [
      ...getWriteIds(lost.state.chains),
      ...writes.slice(savedWrites).map(({ id }) => id),
    ]) {
      if (remaining.has(id)) continue;
      this.#lostWrites.add(id);
      this.count('lost writes');
    }
    writes.splice(0, Infinity, ...writes.filter((write) => !gone.includes(write)));
  }

  #planRestarts(): void {
    this.#repeat(this.options.restartEveryMs, () => {
      const site = this.random.between(0, this.options.siteCount - 1);
      const isViewLost = this.random.chance(this.options.losesViewsChance);
      const index = this.random.between(0, this.options.gatewaysPerSite - 1);
      const gateway = this.#createGateway(site);
      (this.#gateways[site] as SimulatedGateway[])[index] = gateway;
      if (isViewLost) this.#sharedView(site).view = undefined;
      gateway.site.start(this.#sharedView(site).view);
      this.restarts += 1;
      this.count('restarts');
    });
  }

  #planCuts(): void {
    const { siteCount, cutEveryMs, cutMeanMs } = this.options;
    if (siteCount === 1) return;
    this.#repeat(cutEveryMs, () => {
      const a = this.random.between(0, siteCount - 1);
      const b = (a + this.random.between(1, siteCount - 1)) % siteCount;
      this.#network.cut(a, b);
      this.count('cuts');
      this.timeline.schedule(this.random.exponential(cutMeanMs), () =>
        this.#network.reconnect(a, b),
      );
    });
  }

  /** Heals everything, waits, and compares the sites. */
  #finish(): void {
    this.#isHealed = true;
    this.#network.heal();
    for (const server of this.#servers.flat()) server.clockOffsetMs = 0;
    // A clock that was ahead has to be reached before writes go on.
    this.timeline.run(this.timeline.nowMs + 500 + this.options.clockStepMs);
    const untilMs = this.timeline.nowMs + LATEST_END_MS;
    this.timeline.run(untilMs, () => this.#violation !== undefined || this.#isSettled());
    if (this.timeline.nowMs >= untilMs - ROUND_MS)
      this.report({
        checker: 'liveness',
        message: 'the sites do not become equal after all is well',
      });
    this.timeline.run(this.timeline.nowMs + 500);
    if (this.#violation === undefined) this.#checkEqualSites();
    if (this.#violation === undefined) this.#checkLossAlarms();
  }

  /** Whether each site has received all writes of the others. */
  #isSettled(): boolean {
    return this.#servers.every((servers, source) =>
      servers.every(({ partition: { state } }, partition) =>
        this.#servers.every((others, site) => {
          const other = (others[partition] as Server).partition.state;
          const received = other.received[source] ?? 0;
          const cursor = other.cursors[source]?.entry;
          const isHealed = state.suspicions === state.healedSuspicions;
          return (
            site === source ||
            (isHealed && received >= state.lastOwnStamp && cursor === state.own.last.entry)
          );
        }),
      ),
    );
  }

  /** What a client was told to be written, and is gone, has to be reported. */
  #checkLossAlarms(): void {
    const { restartEveryMs, maxOwnEntries } = this.options;
    // A gateway that ends takes with it what it alone has seen. And dropped entries hide what
    // another site has.
    if (restartEveryMs !== Infinity || maxOwnEntries < MANY_ENTRIES) return;
    for (const { id, site, partition, stamp, atMs } of this.#unreported) {
      // A repetition was executed again.
      if (this.#getServer(site, partition).writes.some((write) => write.id === id)) continue;
      if (
        !this.acknowledged.has(id) ||
        (this.#lossAlarmsAtMs.get(`${site} ${partition}`) ?? 0) >= atMs
      )
        continue;
      const message = `${id} (${stamp}@${site}) of partition ${partition} was lost at ${atMs} ms, without an alarm`;
      this.report({ checker: 'unreported', message });
    }
  }

  #checkEqualSites(): void {
    const reads = this.#gateways.flatMap((gateways, site) =>
      gateways.map(
        (_, gateway) => new SimulatedClient(this, { name: `end${site}.${gateway}`, site, gateway }),
      ),
    );
    const results: (readonly (Version | undefined)[])[] = [];
    for (const [place, client] of reads.entries())
      client.readAll((versions) => {
        results[place] = versions;
        this.report(this.checker.checkFinal(this.keys, versions));
      });
    const areAll = (): boolean => results.filter(Boolean).length === reads.length;
    // A heal over slow links may have to begin again and again.
    this.timeline.run(this.timeline.nowMs + LATEST_END_MS, areAll);
    const stampOf = (version: Version | undefined): Stamp =>
      version === undefined || isAbsentAt(version, this.#trueStamp) ? 0 : version.stamp;
    const texts = results.map((versions) => JSON.stringify(versions.map(stampOf)));
    if (!areAll())
      this.report({ checker: 'liveness', message: 'a site does not answer after all is well' });
    else if (new Set(texts).size > 1)
      this.report({ checker: 'convergence', message: `the sites differ: ${texts.join(' ')}` });
  }
}

/**
 * Tombstones without an id are no writes of a client: a copy has found that the source forgot these
 * keys.
 */
function countForgottenKeys({ chains }: MergeRequest): number {
  return chains.filter(([, chain]) => getVersions(chain).every(({ value }) => value === undefined))
    .length;
}

function getWriteIds(chains: Partition['state']['chains']): readonly string[] {
  return [...chains.values()].flatMap((chain) => getVersions(chain).map(getWriteId));
}

/** The version that a new session would read before this write. */
function findVisible(partition: Partition, { key, stable }: PutRequest): Version | undefined {
  const { chains } = partition.state;
  const site = partition.state.received.length;
  const snapshot = Array.from({ length: site }, (_, index) => stable[index] ?? 0);
  const versions = getVersions(chains.get(key) ?? EMPTY_CHAIN);
  return versions.find(
    (version) =>
      isVisible(version, withStamp(snapshot, version.site, Infinity)) && isStable(version, stable),
  );
}

function isStable({ site, stamp }: Version, stable: readonly Stamp[]): boolean {
  return stamp <= (stable[site] ?? 0);
}

function createLimits(options: CausalRunOptions): CausalLimits {
  const toStamp = (ms: number): Stamp => ms * MICROSECONDS_PER_MS;
  return {
    ...DEFAULT_LIMITS,
    maxClockSkew: toStamp(MAX_CLOCK_SKEW_MS),
    requestTimeout: toStamp(REMOTE_TIMEOUT_MS),
    keepIdsFor: toStamp(KEEP_IDS_MS),
    keepVersionsFor: toStamp(options.keepVersionsMs),
    keepTombstonesFor: toStamp(options.keepTombstonesMs),
    maxVersions: options.maxVersions,
    maxOwnEntries: options.maxOwnEntries,
    maxPulledEntries: options.maxPulledEntries,
    maxScannedKeys: options.maxScannedKeys,
  };
}
