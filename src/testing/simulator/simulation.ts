/**
 * One simulated run: the replica and the log of production on a virtual clock, network and disks. Phase 1 checks safety
 * under faults; in phase 2 everything heals, and all clients must end and all sites converge.
 */
import { ID_TABLE_LIMITS } from '../../server/replica/once/id-table.ts';
import type { ReplicaObserver } from '../../server/replica/core/replica-port.ts';
import { SEQUENCED } from '../../server/log/sequenced/engine.ts';
import { SiteMachine } from '../../server/site/site-machine.ts';
import type { RedLogEngine } from '../../server/log/red-log-engine.ts';
import { Origins, startName, type Origin } from '../../server/records/origin.ts';
import { FULL_RETRY_MS } from '../../server/storage/disk/ordered-writes.ts';
import { DurableStorage } from '../../server/storage/durable-storage.ts';
import { AnswerChecker } from './checkers/answers.ts';
import { CausalOrderChecker, TotalOrderChecker } from './checkers/causal-order.ts';
import { ClockChecker, TermChecker } from './checkers/clocks.ts';
import { Checkers, Fault, isRed, require } from './checkers/checker.ts';
import type { AnyOperation, FinalState, GivenRefusal, GivenView, Told } from './checkers/checker.ts';
import { ConvergenceChecker, DurabilityChecker } from './checkers/durability.ts';
import { ExactlyOnceChecker } from './checkers/exactly-once.ts';
import { FloorChecker, isFloor, isTransfer } from './checkers/floors.ts';
import { InvariantChecker } from './checkers/invariants.ts';
import { OracleChecker } from './checkers/oracle.ts';
import { RefusalChecker } from './checkers/refusals.ts';
import { SerializabilityChecker } from './checkers/serializability.ts';
import { SessionChecker } from './checkers/sessions.ts';
import { Calm, Timeline } from './timeline.ts';
import { coverageOf } from './coverage.ts';
import { SimulatedDisk } from './disk.ts';
import { History, type ClientOperation } from './history.ts';
import { HostileNetwork, type Sent } from './network.ts';
import { drawOptions, type Profile, type SimulationOptions } from './options.ts';
import { Random } from '../../server/collections/random.ts';
import { observeRuns } from './runs.ts';
import { SimulatedClient } from './simulated-client.ts';
import { SimulatedSite, type MachineFactory } from './simulated-site.ts';
import { TracedService } from './traced-service.ts';
import { unsteadyEngine } from './unsteady-log.ts';
import type { World } from './world.ts';

/** What came of a run. */
export interface RunResult {
  readonly seed: number;
  readonly options: SimulationOptions;
  /** The first property that did not hold. */
  readonly fault?: { readonly checker: string; readonly message: string };
  /** What the run went through, by name: runs that go through nothing prove nothing. */
  readonly coverage: Readonly<Record<string, number>>;
  /** What the clients did and were told, for checkers outside. */
  readonly history: readonly ClientOperation[];
}

/** The site that sequences the red log. */
const LEADER = 0;
const FAULTY_PHASE_MS = 5000;
const HEALED_PHASE_MS = 120_000;
const SETTLE_MS = 3000;
const CONVERGE_MS = 120_000;
const SETTLE_STEP_MS = 250;
const LIMITS = { resendAfterMs: 100, reachTimeoutMs: 1000, maxClockSkewMs: 2000, haltedBytesMax: 20_000 };
/** A clock is set forwards by less than sites may differ: by more, it would be wild. */
const CLOCK_STEP_MAX_MS = 500;

/** A run. */
export class Simulation {
  readonly #seed: number;
  readonly #options: SimulationOptions;
  readonly #parts: RunParts;
  readonly #random: Random;
  readonly #timeline = new Timeline();
  readonly #calm = new Calm(this.#timeline, () => this.#isInTheWay);
  readonly #world: World;
  readonly #traced: TracedService;
  readonly #history: History;
  readonly #origins: Origins;
  readonly #oracle: OracleChecker;
  readonly #network: HostileNetwork;
  readonly #disks: SimulatedDisk[] = [];
  readonly #sites: SimulatedSite[] = [];
  readonly #clients: SimulatedClient[] = [];
  readonly #checkers: Checkers;
  readonly #counts = {
    blue: 0,
    red: 0,
    rejected: 0,
    chained: 0,
    chainedApplied: 0,
    chainsBroken: 0,
    pauses: 0,
    fullDisks: 0,
    sessionViews: 0,
    quarantines: 0,
    clockSteps: 0,
    refusals: 0,
    floors: 0,
    transfers: 0,
    sharedOut: 0,
    repeated: 0,
  };
  #isHealed = false;

  constructor(seed: number, options: SimulationOptions, world: World, parts: RunParts) {
    this.#seed = seed;
    this.#options = options;
    this.#parts = parts;
    this.#world = world;
    this.#traced = new TracedService(world.service);
    this.#history = new History(this.#world.traits);
    this.#random = new Random(seed);
    const receive = (sent: Sent): void => this.#sites.find(({ origin }) => origin === sent.to)?.receive(sent);
    this.#network = new HostileNetwork(this.#options, this.#random, this.#timeline, receive, this.#calm);
    this.#origins = Origins.of(Array.from({ length: options.siteCount }, (_, place) => `s${place}`));
    const [origins, { service }] = [this.#origins, this.#traced];
    this.#oracle = new OracleChecker(this.#traced, origins);
    this.#checkers = new Checkers([
      new CausalOrderChecker(origins),
      new TotalOrderChecker(origins),
      new SerializabilityChecker(origins),
      new InvariantChecker(service),
      new SessionChecker(origins),
      new ClockChecker(this.#sites, LIMITS.maxClockSkewMs),
      new ExactlyOnceChecker(origins),
      new DurabilityChecker(origins),
      new AnswerChecker(this.#options.attemptsMax),
      new RefusalChecker({ ...LIMITS, options, service, calm: this.#calm, sites: this.#sites }),
      new FloorChecker(origins),
      new TermChecker(),
      ...this.#world.checkers({ ...LIMITS, options, origins, calm: this.#calm, thrown: this.#traced.thrown }),
      new ConvergenceChecker(),
      // Last: what another one says of a fault is more to the point.
      this.#oracle,
    ]);
  }

  run(): RunResult {
    try {
      this.#startSites();
      this.#startClients();
      this.#timeline.run(FAULTY_PHASE_MS, () => this.#areClientsDone);
      this.#heal();
      this.#timeline.run(this.#timeline.nowMs + HEALED_PHASE_MS, () => this.#areClientsDone);
      this.#checkProgress();
      this.#settle();
      this.#checkEnd();
    } catch (error) {
      // Whatever is thrown is a finding: a broken replica may trip over itself before a checker notices.
      const checker = error instanceof Fault ? (error.noticedBy ?? this.#checkers.checking) : 'crash';
      return this.#result({
        checker,
        message: error instanceof Fault ? error.message : String((error as Error).stack),
      });
    }
    return this.#result();
  }

  get #areClientsDone(): boolean {
    return this.#clients.every((client) => client.isDone);
  }

  #startSites(): void {
    const { skewMaxMs, attemptsMax, segmentBytes, checkpointBytes, largeGroup } = this.#options;
    const { windowCommits, identifiersMax, perClientMax, answerBytesMax, sessionWaitMs } = this.#options;
    const { removalsPerFloor, redInFlightMax, chainMax, windowMax: most } = this.#options;
    const [origins, { service }] = [this.#origins, this.#traced];
    const windows = { asked: most, sent: most, appended: most, proposed: most };
    const place = { deployment: 'simulated', origins, redLeader: origins.sites[LEADER] as Origin };
    for (const site of origins.sites) {
      const disk = this.#makeDisk();
      const bytes = { bytesMax: answerBytesMax, clientBytesMax: answerBytesMax };
      const endings = { ...ID_TABLE_LIMITS, operationsMax: identifiersMax, perClientMax, ...bytes };
      const remembers = { windowCommits, endings };
      const bounds = { remembers, removalsPerFloor, redInFlightMax, chainMax };
      const limits = { attemptsMax, sessionWaitMs, ...bounds, ...LIMITS };
      this.#sites.push(
        new SimulatedSite({
          site: { service, ...place, site, windows, redLog: this.#redLog(), ...limits },
          makeMachine: this.#observed(site),
          timeline: this.#timeline,
          skewMs: this.#random.between(-skewMaxMs, skewMaxMs),
          observer: this.#observerOf(site),
          disk,
          storage: { segmentBytes, checkpointBytes, largeGroup },
          Storage: this.#parts.Storage ?? DurableStorage,
          send: (sent) => this.#network.send(sent),
          took: (envelope, start) => this.#checkers.tell('took', (checker) => checker.took?.(site, envelope, start)),
          save: () => this.#checkers.save(site),
          resumed: () => this.#calm.disturbed(),
          started: (saved) => {
            this.#calm.disturbed();
            const notes = saved as ReadonlyMap<string, unknown> | undefined;
            this.#checkers.tell('started', (checker) => checker.started?.(site, notes?.get(checker.name)));
          },
          submitted: (submission) =>
            this.#checkers.tell('submitted', (checker) => checker.submitted?.({ ...submission, site })),
        }),
      );
      this.#planFaults(this.#sites.at(-1) as SimulatedSite, disk);
    }
    this.#planLoss();
    this.#planClocks(this.#sites[this.#random.between(0, origins.sites.length - 1)] as SimulatedSite);
  }

  #startClients(): void {
    const { clientCount } = this.#options;
    for (let client = 0; client < clientCount; client += 1) {
      const shared = { timeline: this.#timeline, random: this.#random, history: this.#history, options: this.#options };
      const told = { told: this.#onTold, answered: this.#onAnswered, refused: this.#onRefused };
      this.#clients.push(new SimulatedClient({ client, sites: this.#sites, world: this.#world, ...told, ...shared }));
    }
  }

  #makeDisk(): SimulatedDisk {
    const Disk = this.#parts.Disk ?? SimulatedDisk;
    const { syncMeanMs, instantWriteShare: instantShare, damageChance } = this.#options;
    const disk = new Disk({ timeline: this.#timeline, random: this.#random, syncMeanMs, instantShare, damageChance });
    this.#disks.push(disk);
    return disk;
  }

  /** Makes machines whose generator runs checkers see. */
  #observed(site: Origin): MachineFactory {
    const make = this.#parts.makeMachine ?? ((...args) => new SiteMachine(...args));
    return (options, ...found) => {
      const machine = make(options, ...found);
      const name = startName(options.origins.at(site), options.epoch);
      observeRuns(machine.replica.state, name, (run) =>
        this.#checkers.tell('ran', (checker) => checker.ran?.(site, run)),
      );
      return machine;
    };
  }

  readonly #onTold = (told: Omit<Told, 'isRead'>): void => {
    const isRead = this.#history.isRead(told.operation);
    this.#checkers.tell('told', (checker) => checker.told?.({ ...told, isRead }));
  };

  readonly #onAnswered = (given: Omit<GivenView, 'isRead'>): void => {
    const { operation, site, stage } = given;
    const isRead = this.#history.isRead(operation);
    if (stage !== 'tentative') {
      operation.shownAs ??= this.#oracle.colourAt(site, operation.id);
      operation.isChange ??= this.#oracle.hasEffects(operation.id);
    }
    this.#checkers.tell('answered', (checker) => checker.answered?.({ ...given, isRead }));
  };

  readonly #onRefused = (given: Omit<GivenRefusal, 'isRead'>): void => {
    this.#counts.refusals += 1;
    const isRead = this.#history.isRead(given.operation);
    this.#checkers.tell('refused', (checker) => checker.refused?.({ ...given, isRead }));
  };

  #observerOf(site: Origin): ReplicaObserver {
    return {
      created: (operation) => {
        if (isChained(operation)) this.#counts.chained += 1;
        this.#checkers.tell('created', (checker) => checker.created?.(site, operation));
      },
      applied: (operation, state) => {
        this.#count(site, operation);
        this.#checkers.tell('applied', (checker) => checker.applied?.(site, operation, state));
      },
      rejected: (operation, conflict) => {
        this.#counts.rejected += 1;
        this.#checkers.tell('rejected', (checker) => checker.rejected?.(site, operation, conflict));
        if (operation.site === site && conflict?.reason === 'predecessor') this.#counts.chainsBroken += 1;
      },
      viewed: ({ serial }) => {
        this.#counts.sessionViews += 1;
        this.#checkers.tell('viewed', (checker) => checker.viewed?.(site, serial));
      },
      quarantined: () => (this.#counts.quarantines += 1),
    };
  }

  #count(site: Origin, operation: AnyOperation): void {
    if (isFloor(operation)) this.#counts.floors += 1;
    else if (isTransfer(operation)) this.#counts[isRed(operation) ? 'sharedOut' : 'transfers'] += 1;
    else this.#counts['attempt' in operation ? 'red' : 'blue'] += 1;
    if (operation.site === site && isChained(operation)) this.#counts.chainedApplied += 1;
  }

  /** What befalls one site. */
  #planFaults(site: SimulatedSite, disk: SimulatedDisk): void {
    const { crashEveryMs, downMeanMs, pauseEveryMs, pauseMeanMs, fullEveryMs, deposeEveryMs } = this.#options;
    this.#plan(crashEveryMs, () => site.crash(this.#random.exponential(downMeanMs)));
    this.#plan(pauseEveryMs, () => {
      this.#counts.pauses += 1;
      site.pause(this.#random.exponential(pauseMeanMs));
    });
    this.#plan(fullEveryMs, () => this.#fill(disk));
    this.#plan(deposeEveryMs, () => site.depose());
  }

  #fill(disk: SimulatedDisk): void {
    this.#counts.fullDisks += 1;
    disk.isFull = true;
    this.#timeline.after(this.#random.exponential(this.#options.fullMeanMs), () => this.#makeRoom(disk));
  }

  /** What did not fit is written again only after a while. */
  #makeRoom(disk: SimulatedDisk): void {
    disk.isFull = false;
    this.#calm.disturbed(FULL_RETRY_MS);
  }

  /** Something bad, now and then until everything heals: `Infinity` for never. */
  #plan(everyMs: number, run: () => void): void {
    if (everyMs === Infinity) return;
    this.#timeline.after(this.#random.exponential(everyMs), () => {
      if (this.#isHealed) return;
      run();
      this.#plan(everyMs, run);
    });
  }

  #redLog(): RedLogEngine {
    const isSteady = (): boolean => this.#isHealed;
    const repeated = (): void => void (this.#counts.repeated += 1);
    return unsteadyEngine(SEQUENCED, this.#options, { random: this.#random, isSteady, repeated });
  }

  /** One clock may be wild for a while; the others are set, mostly back, and drift. */
  #planClocks(wild: SimulatedSite): void {
    const { wildClockAheadMs, wildClockUntilMs, driftMax } = this.#options;
    wild.setClock(wildClockAheadMs);
    if (wildClockUntilMs !== Infinity) this.#timeline.after(wildClockUntilMs, () => wild.setClock(0));
    for (const site of this.#sites) {
      if (driftMax > 0) site.drift = (2 * this.#random.fraction() - 1) * driftMax;
      if (site !== wild || wildClockAheadMs === 0) this.#planClockStep(site);
    }
  }

  #planClockStep(site: SimulatedSite): void {
    const { clockStepEveryMs, clockStepBackMaxMs } = this.#options;
    this.#plan(clockStepEveryMs, () => {
      this.#counts.clockSteps += 1;
      site.setClock(this.#random.between(-clockStepBackMaxMs, CLOCK_STEP_MAX_MS));
    });
  }

  #planLoss(): void {
    const { loseSiteAtMs, siteCount } = this.#options;
    if (loseSiteAtMs === Infinity || siteCount < 3) return;
    const site = this.#random.between(1, siteCount - 1);
    this.#timeline.after(loseSiteAtMs, () => {
      if (!this.#isHealed) this.#sites[site]?.lose();
    });
  }

  /** Whether something keeps a site from working, from others, or from taking what they say. */
  get #isInTheWay(): boolean {
    const isAway = this.#sites.some((site) => !site.isAwake) || this.#disks.some(({ isFull }) => isFull);
    const { wildClockAheadMs, clockStepEveryMs } = this.#options;
    const areClocksRight = this.#isHealed || (wildClockAheadMs === 0 && clockStepEveryMs === Infinity);
    return isAway || this.#network.isCut || !areClocksRight;
  }

  #heal(): void {
    this.#isHealed = true;
    this.#calm.disturbed();
    for (const disk of this.#disks) if (disk.isFull) this.#makeRoom(disk);
    this.#network.heal();
    for (const site of this.#sites) {
      site.setClock(0);
      site.drift = 0;
    }
  }

  /** Lets late requests come and what is under way between the sites end. */
  #settle(): void {
    this.#timeline.run(this.#timeline.nowMs + SETTLE_MS);
    const untilMs = this.#timeline.nowMs + CONVERGE_MS;
    while (!(this.#areSitesAlike && this.#left.every((site) => this.#isIdle(site))) && this.#timeline.nowMs < untilMs) {
      this.#timeline.run(this.#timeline.nowMs + SETTLE_STEP_MS);
    }
  }

  get #areSitesAlike(): boolean {
    const vectors = this.#left.map(({ machine }) => machine?.replica.state.stable.join());
    return vectors.every((vector) => vector !== undefined && vector === vectors[0]);
  }

  /** Whether nothing waits there, or is laid under what is to come; but for what a site that is lost will never have. */
  #isIdle({ machine }: SimulatedSite): boolean {
    if (machine === undefined) return false;
    const { red, walks, coverage, state } = machine.replica;
    if (red.busy || walks.busy || coverage.busy || !state.overlay.isEmpty || !state.laid.isEmpty) return false;
    return this.#left.length < this.#sites.length || !machine.busy;
  }

  /** The sites that are not lost for good. */
  get #left(): SimulatedSite[] {
    return this.#sites.filter(({ isLost }) => !isLost);
  }

  #checkProgress(): void {
    this.#checkers.checking = 'progress';
    const open = this.#history.operations.filter(({ answers, error }) => answers.length === 0 && error === undefined);
    const describe = (): string => open.map(({ id, operation }) => `${operation} ${id}`).join(', ');
    require(this.#areClientsDone, () => `not answered long after everything healed: ${describe()}`);
  }

  #checkEnd(): void {
    this.#checkers.checking = 'progress';
    const sites: FinalState['sites'][number][] = [];
    const lost = new Set<Origin>();
    for (const { origin: site, machine, isLost } of this.#sites) {
      if (isLost) lost.add(site);
      else if (machine !== undefined) sites.push({ site, state: machine.replica.state });
    }
    require(sites.length + lost.size === this.#sites.length, () => 'a site is still down');
    this.#checkers.tell('finished', (checker) => checker.finished?.({ sites, lost, history: this.#history }));
    this.#checkers.checking = 'leftovers';
    const busy = this.#sites.flatMap((site) => (site.isLost || this.#isIdle(site) ? [] : [site.origin]));
    require(busy.length === 0, () => `something is left under way at site ${busy.join()}, long after all have ended`);
  }

  #result(fault?: RunResult['fault']): RunResult {
    const sum = (of: (client: SimulatedClient) => number): number =>
      this.#clients.reduce((total, client) => total + of(client), 0);
    const failed = (code: string): number => this.#history.operations.filter(({ error }) => error === code).length;
    const coverage: Record<string, number> = {
      'operations answered': this.#history.answered().length,
      'operations failed': this.#history.operations.filter(({ error }) => error !== undefined).length,
      'told CONFLICT': failed('CONFLICT'),
      'told SESSION_BEHIND': failed('SESSION_BEHIND'),
      'blue applied': this.#counts.blue,
      'red applied': this.#counts.red,
      'red rejected': this.#counts.rejected,
      'red standing on others': this.#counts.chained,
      'red committed on others': this.#counts.chainedApplied,
      'red rejected with others': this.#counts.chainsBroken,
      'commits trimmed': Math.max(0, this.#oracle.redCount - this.#options.windowCommits),
      ...coverageOf(this.#sites, this.#disks),
      'crashes of the leader': this.#sites[LEADER]?.crashes ?? 0,
      pauses: this.#counts.pauses,
      partitions: this.#network.partitions,
      'full disks': this.#counts.fullDisks,
      'sites lost': this.#sites.length - this.#left.length,
      'clocks quarantined': this.#counts.quarantines,
      'clocks set': this.#counts.clockSteps,
      'views in sessions': this.#counts.sessionViews,
      moves: sum(({ counts }) => counts.moves),
      'told UNKNOWN': sum(({ counts }) => counts.unknown),
      'told to be late': sum(({ counts }) => counts.late),
      'given up': sum(({ counts }) => counts.givenUp),
      'given up in time': sum(({ counts }) => counts.undone),
      'told EXPIRED_ID': sum(({ counts }) => counts.expired),
      'told OVERLOADED': sum(({ counts }) => counts.refused),
      'refused by the domain': this.#counts.refusals,
      floors: this.#counts.floors,
      'transfers of rights': this.#counts.transfers,
      'pools shared out': this.#counts.sharedOut,
      'red deliveries repeated': this.#counts.repeated,
    };
    for (const [kind, count] of this.#network.counts) coverage[kind] = count;
    const history = this.#history.operations;
    return { seed: this.#seed, options: this.#options, coverage, history, ...(fault === undefined ? {} : { fault }) };
  }
}

/** Whether it was executed on what its site had only proposed. */
function isChained(operation: AnyOperation): boolean {
  return isRed(operation) && operation.after !== undefined;
}

/** What runs in the place of the code of production: parts with a fault in them, to see that it is noticed. */
export interface RunParts {
  readonly makeMachine?: MachineFactory | undefined;
  readonly Disk?: typeof SimulatedDisk | undefined;
  readonly Storage?: typeof DurableStorage | undefined;
}

/** How to run a seed. */
export interface SimulateOptions {
  /** What the run is about; one that is drawn with the other circumstances is made of them. */
  readonly world: World | ((options: SimulationOptions, seed: number) => World);
  /** Take the place of what the profile draws. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
  readonly parts?: RunParts | undefined;
}

/** Runs one seed. */
export function simulate(seed: number, profile: Profile, given: SimulateOptions): RunResult {
  const { world, overrides, parts = {} } = given;
  const options = { ...drawOptions(seed, profile), ...overrides };
  const made = typeof world === 'function' ? world(options, seed) : world;
  return new Simulation(seed, options, made, parts).run();
}
