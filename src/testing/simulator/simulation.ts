/**
 * One run of the replica on a virtual clock, network and disks: first with faults, then healed
 * until everything has settled.
 */
import type { SiteObserver } from '../../server/site/core/site-core.ts';
import { formatStartName, type Origin, type Origins } from '../../server/service/records/origin.ts';
import {
  PropertyViolation,
  isPipelined,
  isRed,
  assertProperty,
  type AnyOperation,
  type Checkers,
  type ClientView,
} from './checkers/checker.ts';
import { isLowWatermark, isTransfer } from './checkers/low-watermarks.ts';
import { OracleChecker } from './checkers/oracle.ts';
import { HealthyPeriods, Timeline } from './timeline.ts';
import { getCoverage, NO_COUNTS } from './coverage.ts';
import type { SimulatedDisk } from './disk/disk.ts';
import { History } from './history.ts';
import { HostileNetwork, type NetworkListener } from './network.ts';
import { drawOptions, type Profile, type SimulationOptions } from './options.ts';
import { Random } from '../../server/service/collections/random.ts';
import { observeGenerators } from './observe-generators.ts';
import { PlannedFaults } from './planned-faults.ts';
import { RUN_PARTS, type RunParts } from './run-parts.ts';
import type { SimulateOptions } from './simulate-options.ts';
import { SimulatedClient, type SimulatedClientOptions } from './simulated-client.ts';
import { SimulatedSite } from './simulated-site.ts';
import { type MachineFactory, type MembershipEvent } from './simulated-site-options.ts';
import { TracedService } from './traced-service.ts';
import { ClusterEvents, type ClusterContext } from './cluster/cluster-events.ts';
import type { SiteBeginning } from './cluster/site-copies.ts';
import {
  createReplicaLimits,
  createStorageLimits,
  SIMULATED_DEPLOYMENT,
} from './replica-limits.ts';
import { drawPartitions, type SimulatedPartitions } from './cluster/simulated-partitions.ts';
import { SimulatedRedLog } from './simulated-red-log.ts';
import type { Scenario } from './scenario.ts';
import { createCheckers } from './checkers/create-checkers.ts';
import type { RunResult } from './run-result.ts';
import { Settlement } from './settlement.ts';

const LEADER = 0;
const ROWS_SEED = 0x40e5;
const ROW_DISK_SEED = 0xd15c_0000;
/** Seeds are 32-bit integers. */
const MAX_SEED = 2 ** 32 - 1;
const [FAULTY_PHASE_MS, HEALED_PHASE_MS] = [5000, 120_000];

export class Simulation {
  readonly #seed: number;
  readonly #options: SimulationOptions;
  readonly #parts: RunParts;
  readonly #random: Random;
  readonly #timeline = new Timeline();
  readonly #healthyPeriods = new HealthyPeriods(this.#timeline, () => this.#isInTheWay);
  readonly #scenario: Scenario;
  readonly #traced: TracedService;
  readonly #history: History;
  readonly #partitions: SimulatedPartitions;
  readonly #origins: Origins;
  readonly #oracle: OracleChecker;
  readonly #network: HostileNetwork;
  readonly #disks: SimulatedDisk[] = [];
  readonly #sites: SimulatedSite[] = [];
  readonly #clients: SimulatedClient[] = [];
  readonly #cluster: ClusterEvents;
  readonly #checkers: Checkers;
  readonly #settlement: Settlement;
  readonly #redLog: SimulatedRedLog;
  readonly #counts = { ...NO_COUNTS, exceeded: new Map<string, number>() };
  readonly #losses = new Map<number, number>();
  readonly #faults: PlannedFaults;
  #isHealed = false;

  constructor(
    seed: number,
    options: SimulationOptions,
    scenario: Scenario,
    parts: Partial<RunParts>,
  ) {
    this.#seed = seed;
    this.#options = options;
    this.#parts = { ...RUN_PARTS, ...parts };
    this.#scenario = scenario;
    this.#traced = new TracedService(scenario.service);
    this.#history = new History(this.#scenario.traits);
    this.#random = new Random(seed);
    this.#network = new HostileNetwork(
      this.#options,
      { all: this.#createRandom(), rows: new Random(seed ^ ROWS_SEED) },
      this.#timeline,
      this.#createNetworkListener(),
      this.#healthyPeriods,
    );
    this.#faults = new PlannedFaults({
      options,
      timeline: this.#timeline,
      random: this.#random,
      healthyPeriods: this.#healthyPeriods,
      counts: this.#counts,
      isHealed: () => this.#isHealed,
    });
    this.#partitions = drawPartitions(seed, this.#traced.service, options);
    this.#origins = this.#partitions.createOrigins();
    this.#cluster = new ClusterEvents(this.#createClusterContext(), seed);
    this.#redLog = this.#createRedLog();
    this.#oracle = new OracleChecker(this.#traced, this.#origins, this.#partitions.partitions);
    this.#checkers = createCheckers({
      options,
      origins: this.#origins,
      traced: this.#traced,
      scenario: scenario,
      healthyPeriods: this.#healthyPeriods,
      sites: this.#sites,
      oracle: this.#oracle,
      losses: this.#losses,
    });
    this.#settlement = new Settlement({
      sites: this.#sites,
      timeline: this.#timeline,
      history: this.#history,
      checkers: this.#checkers,
    });
  }

  run(): RunResult {
    try {
      this.#startSites();
      this.#startClients();
      this.#timeline.run(FAULTY_PHASE_MS, () => this.#areClientsDone);
      this.#heal();
      this.#timeline.run(
        this.#timeline.nowMs + HEALED_PHASE_MS,
        () => this.#areClientsDone && !this.#cluster.isBusy,
      );
      this.#checkProgress();
      const hasSettled = this.#settlement.settle();
      this.#settlement.checkEnd();
      this.#checkers.current = 'progress';
      assertProperty(
        hasSettled,
        () => 'the sites still exchange something, long after all have ended',
      );
    } catch (error) {
      // Every error is a finding, because a broken replica may throw before a checker notices.
      const checker =
        error instanceof PropertyViolation ? (error.noticedBy ?? this.#checkers.current) : 'crash';
      return this.#result({
        checker,
        message:
          error instanceof PropertyViolation ? error.message : String((error as Error).stack),
      });
    }
    return this.#result();
  }

  get #areClientsDone(): boolean {
    return this.#clients.every((client) => client.isDone);
  }

  #startSites(): void {
    for (const site of this.#origins.sites) this.#addSite(site, this.#makeDisk());
    const lost = this.#faults.planLoss(this.#sites);
    if (lost !== undefined && this.#options.slowStreamMs > 0)
      this.#network.slowStreamsOf(lost.origin);
    this.#cluster.plan();
    const wild = this.#sites[this.#random.between(0, this.#sites.length - 1)];
    this.#faults.planClocks(wild as SimulatedSite, this.#sites);
  }

  #createNetworkListener(): NetworkListener {
    return {
      receive: (sent) => {
        const site = this.#sites.find(({ origin }) => origin === sent.to);
        for (const receiver of this.#cluster.pickReceivers(site, sent.kind)) receiver.receive(sent);
      },
      onMessageEnd: (end) => this.#checkers.notify('onMessageEnd', end),
      onLinksCut: (links) => this.#checkers.notify('onLinksCut', links),
      onLinksRestored: (links) => this.#checkers.notify('onLinksRestored', links),
    };
  }

  #createClusterContext(): ClusterContext {
    return {
      options: this.#options,
      timeline: this.#timeline,
      sites: this.#sites,
      leaders: this.#partitions.findLeaders(this.#origins, LEADER),
      partitions: this.#partitions,
      steps: this.#parts,
      tables: this.#traced.service.tables,
      losses: this.#losses,
      closeLinks: () => this.#network.closeLinks(),
      isHealed: () => this.#isHealed,
      makeDisk: () => this.#makeDisk(),
      addSite: (site, { disk, ...begin }) => {
        this.#addSite(site, disk, begin);
        this.#network.addSite(site);
      },
      addTwin: (site, disk) =>
        this.#makeSite(site.origin, disk, {
          directory: site.directory,
          isTwin: true,
        }),
    };
  }

  #addSite(site: Origin, disk: SimulatedDisk, begin: SiteBeginning = {}): void {
    const added = this.#makeSite(site, disk, begin);
    this.#sites.push(added);
    this.#faults.planForSite(added);
  }

  #makeSite(
    site: Origin,
    disk: SimulatedDisk,
    { copy, directory, isTwin = false }: SiteBeginning & { readonly isTwin?: boolean },
  ): SimulatedSite {
    const { maxSkewMs } = this.#options;
    const place = {
      deployment: SIMULATED_DEPLOYMENT,
      redLeader: this.#origins.sites[LEADER] as Origin,
    };
    const { engine: redLog, connect } = this.#redLog;
    const notify: Checkers['notify'] = (...notice) => {
      if (!isTwin) this.#checkers.notify(...notice);
    };
    return new SimulatedSite({
      site: {
        service: this.#traced.service,
        ...place,
        site,
        directory,
        redLog,
        ...createReplicaLimits(this.#options, this.#counts, this.#parts.PrefixDigest),
        ...this.#partitions.createOptions(this.#origins),
      },
      createOrigins: () => this.#partitions.createOrigins(),
      getPlaces: () => this.#cluster.getPlaces(site),
      makeMachine: isTwin ? this.#makeMachine : this.#observeMachine(site),
      timeline: this.#timeline,
      skewMs: this.#random.between(-maxSkewMs, maxSkewMs),
      observer: isTwin ? {} : this.#createObserver(site),
      copy,
      connect,
      disk,
      storage: createStorageLimits(this.#options, this.#counts),
      parts: this.#parts,
      send: (sent) => this.#network.send(sent),
      onMessageAccepted: (envelope, start) => {
        const { message } = envelope;
        if (message.kind === 'rows.digest' && message.rows !== undefined)
          this.#counts.rowLists += 1;
        notify('onMessageAccepted', site, envelope, start);
      },
      save: () => this.#checkers.save(site),
      onEvent: (event) => {
        if (event === 'resumed') this.#healthyPeriods.onDisturbed();
        notify('onSiteEvent', site, event);
      },
      onStarted: (saved) => {
        this.#healthyPeriods.onDisturbed();
        if (!isTwin) this.#checkers.start(site, saved as ReadonlyMap<string, unknown> | undefined);
      },
      onSubmitted: (submission) => notify('onSubmitted', { ...submission, site }),
      onMembership: (output, made) => this.#onMembership(made, output),
    });
  }

  #onMembership(site: SimulatedSite, output: MembershipEvent): void {
    if (output.kind === 'forked') this.#cluster.onForked(site, output.message);
    else if (output.kind === 'peer-forked') this.#cluster.onPeerForked(output.peer, output.message);
    else if (output.kind === 'retired') this.#cluster.onRetired(site);
    else if (output.kind === 'behind') this.#cluster.onBehind(site);
    else if (output.kind === 'members') {
      const origins = site.machine?.options.origins;
      if (origins !== undefined) this.#checkers.notify('onMembers', site.origin, origins);
    }
  }

  #startClients(): void {
    const { clientCount } = this.#options;
    const shared: Omit<SimulatedClientOptions, 'client'> = {
      sites: this.#sites,
      timeline: this.#timeline,
      random: this.#random,
      history: this.#history,
      options: this.#options,
      scenario: this.#scenario,
      onSubmissionEvent: (reported) => this.#checkers.notify('onSubmissionEvent', reported),
      onView: (view) => this.#onView(view),
      onDomainError: (rejection) => {
        this.#counts.refusals += 1;
        this.#checkers.notify('onDomainError', rejection);
      },
    };
    for (let client = 0; client < clientCount; client += 1)
      this.#clients.push(new SimulatedClient({ ...shared, client }));
  }

  /**
   * Returns random numbers for one part of the run. What another part draws does not change them,
   * so that the order in which a site sends and stores does not make another run of it.
   */
  #createRandom(): Random {
    return new Random(this.#random.between(0, MAX_SEED));
  }

  #makeDisk(): SimulatedDisk {
    const { syncMeanMs, instantWriteShare, damageChance } = this.#options;
    const disk = new this.#parts.SimulatedDisk({
      timeline: this.#timeline,
      random: this.#createRandom(),
      syncMeanMs,
      instantShare: instantWriteShare,
      damageChance,
      rowRandom: new Random(this.#seed ^ ROW_DISK_SEED ^ this.#disks.length),
      commitMeanMs: this.#options.commitMeanMs,
    });
    this.#disks.push(disk);
    return disk;
  }

  readonly #makeMachine: MachineFactory = (...args) => new this.#parts.Site(...args);

  #observeMachine(site: Origin): MachineFactory {
    return (options, ...found) => {
      this.#checkers.notify('onMembers', site, options.origins);
      const machine = this.#makeMachine(options, ...found);
      const name = formatStartName(options.origins.get(site), options.epoch);
      observeGenerators(machine.state, name, (run) =>
        this.#checkers.notify('onGeneratorRun', site, run),
      );
      return machine;
    };
  }

  #onView(view: ClientView): void {
    const { operation, site, stage } = view;
    if (stage !== 'tentative') {
      operation.shownColor ??= this.#oracle.getColorAt(site, operation.id);
      operation.isChange ??= this.#oracle.hasEffects(operation.id);
    }
    this.#checkers.notify('onView', view);
  }

  #createObserver(site: Origin): SiteObserver {
    return {
      onCreated: (operation) => {
        if (isPipelined(operation)) this.#counts.chained += 1;
        this.#checkers.notify('onCreated', site, operation);
      },
      onApplied: (operation, state) => {
        this.#count(site, operation);
        this.#checkers.notify('onApplied', site, operation, state);
      },
      onRejected: (operation, conflict) => {
        this.#counts.rejected += 1;
        this.#checkers.notify('onRejected', site, operation, conflict);
        if (operation.site === site && conflict?.reason === 'predecessor')
          this.#counts.chainsBroken += 1;
      },
      onViewed: ({ serial }) => {
        this.#counts.sessionViews += 1;
        this.#checkers.notify('onSessionView', site, serial);
      },
      onRowsCompared: (compared) => {
        this.#counts.comparisons += 1;
        if (compared.isLast) this.#counts.passes += 1;
        this.#checkers.notify('onRowsCompared', site, compared);
      },
      onQuarantined: () => (this.#counts.quarantines += 1),
    };
  }

  #count(site: Origin, operation: AnyOperation): void {
    if (isLowWatermark(operation)) this.#counts.floors += 1;
    else if (isTransfer(operation)) this.#counts[isRed(operation) ? 'sharedOut' : 'transfers'] += 1;
    else this.#counts['attempt' in operation ? 'red' : 'blue'] += 1;
    this.#partitions.count(operation);
    if (operation.site === site && isPipelined(operation)) this.#counts.chainedApplied += 1;
  }

  #createRedLog(): SimulatedRedLog {
    const run = {
      options: this.#options,
      timeline: this.#timeline,
      random: this.#random,
      sites: this.#sites,
    };
    return new SimulatedRedLog({
      ...run,
      seed: this.#seed,
      isHealthy: () => this.#isHealed,
      onRepeated: () => void (this.#counts.repeated += 1),
      parts: this.#parts,
    });
  }

  /**
   * Whether a fault keeps a site from working, from reaching others, or from accepting their
   * messages.
   */
  get #isInTheWay(): boolean {
    const isAway =
      this.#sites.some((site) => !site.isAwake) || this.#disks.some(({ isFull }) => isFull);
    const { wildClockAheadMs, clockStepEveryMs } = this.#options;
    const areClocksRight =
      this.#isHealed || (wildClockAheadMs === 0 && clockStepEveryMs === Infinity);
    return (
      isAway ||
      // A site that waits for the state of another one takes nothing meanwhile.
      this.#cluster.isBusy ||
      this.#network.isCut ||
      !areClocksRight ||
      this.#redLog.isInTheWay
    );
  }

  #heal(): void {
    this.#isHealed = true;
    this.#healthyPeriods.onDisturbed(this.#redLog.recoveryMs);
    for (const site of this.#sites) if (site.disk.isFull) this.#faults.makeRoom(site);
    this.#network.heal();
    this.#redLog.heal();
    for (const site of this.#sites) {
      site.checkDisk();
      site.clock.set(0);
      site.clock.setDrift(0);
    }
  }

  #checkProgress(): void {
    this.#checkers.current = 'progress';
    const open = this.#history.operations.filter(
      ({ replies, error }) => replies.length === 0 && error === undefined,
    );
    const describe = (): string => open.map(({ id, operation }) => `${operation} ${id}`).join(', ');
    assertProperty(
      this.#areClientsDone,
      () => `not answered long after everything healed: ${describe()}`,
    );
    assertProperty(
      !this.#cluster.isBusy,
      () => `not done long after everything healed: ${this.#cluster.describeTasks()}`,
    );
  }

  #result(violation?: RunResult['violation']): RunResult {
    const coverage = getCoverage({
      history: this.#history,
      clients: this.#clients,
      sites: this.#sites,
      disks: this.#disks,
      leader: this.#sites[LEADER],
      counts: this.#counts,
      partitions: this.#network.partitions,
      trimmedCommits: Math.max(0, this.#oracle.redCount - this.#options.maxWindowCommits),
    });
    Object.assign(
      coverage,
      this.#options.isCluster ? this.#cluster.counts : {},
      this.#partitions.counts,
      this.#redLog.etcd?.counts,
    );
    Object.assign(coverage, Object.fromEntries(this.#counts.exceeded));
    for (const [kind, count] of this.#network.stats) coverage[kind] = count;
    return {
      seed: this.#seed,
      options: this.#options,
      coverage,
      history: this.#history.operations,
      ...(violation === undefined ? {} : { violation }),
    };
  }
}

export function simulate(seed: number, profile: Profile, value: SimulateOptions): RunResult {
  const { scenario, overrides, parts = {} } = value;
  const options = { ...drawOptions(seed, profile), ...overrides };
  const made = typeof scenario === 'function' ? scenario(options, seed) : scenario;
  return new Simulation(seed, options, made, parts).run();
}
