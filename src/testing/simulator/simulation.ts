/**
 * One simulated run: the replica and the log of production on a virtual clock, network and disks. Phase 1 checks safety
 * under faults; in phase 2 everything heals, and all clients must end and all sites converge.
 */
import type { ReplicaObserver } from '../../server/redblue/replica-port.ts';
import { SiteMachine } from '../../server/redblue/site-machine.ts';
import { DurableStorage } from '../../server/storage/durable-storage.ts';
import { AccountChecker } from './checkers/accounts.ts';
import { CausalOrderChecker } from './checkers/causal-order.ts';
import { ClockChecker } from './checkers/clocks.ts';
import { Fault, require } from './checkers/checker.ts';
import type { AnyOperation, Checker, FinalState } from './checkers/checker.ts';
import { ConvergenceChecker } from './checkers/convergence.ts';
import { DurabilityChecker } from './checkers/durability.ts';
import { ExactlyOnceChecker } from './checkers/exactly-once.ts';
import { InvariantChecker } from './checkers/invariants.ts';
import { LevelChecker } from './checkers/levels.ts';
import { QueueChecker } from './checkers/queues.ts';
import { SeatChecker } from './checkers/seats.ts';
import { SerializabilityChecker } from './checkers/serializability.ts';
import { SessionChecker } from './checkers/sessions.ts';
import { StrongReadChecker } from './checkers/strong-reads.ts';
import { TotalOrderChecker } from './checkers/total-order.ts';
import { SimulatedDisk } from './disk.ts';
import { History } from './history.ts';
import type { ClientOperation } from './history.ts';
import { HostileNetwork } from './network.ts';
import { drawOptions } from './options.ts';
import type { Profile, SimulationOptions } from './options.ts';
import type { PlantedFault } from './planted.ts';
import { Random } from './random.ts';
import { simulatedService } from './service.ts';
import { SimulatedClient } from './simulated-client.ts';
import { SimulatedSite } from './simulated-site.ts';
import { Timeline } from './timeline.ts';

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

const FAULTY_PHASE_MS = 5000;
const HEALED_PHASE_MS = 120_000;
const SETTLE_MS = 3000;
const CONVERGE_MS = 10_000;
const SETTLE_STEP_MS = 250;
const LIMITS = { resendAfterMs: 100, reachTimeoutMs: 1000, sessionWaitMs: 1000, maxClockSkewMs: 2000 };
const SERVICE = simulatedService();

/** A run. */
export class Simulation {
  readonly #seed: number;
  readonly #options: SimulationOptions;
  readonly #planted: PlantedFault | undefined;
  readonly #random: Random;
  readonly #timeline = new Timeline();
  readonly #history = new History();
  readonly #network: HostileNetwork;
  readonly #disks: SimulatedDisk[] = [];
  readonly #sites: SimulatedSite[] = [];
  readonly #clients: SimulatedClient[] = [];
  readonly #checkers: readonly Checker[];
  readonly #counts = { blue: 0, red: 0, rejected: 0, pauses: 0, fullDisks: 0, sessionViews: 0, quarantines: 0 };
  #checking = '';
  #isHealed = false;

  constructor(seed: number, options: SimulationOptions, planted?: PlantedFault) {
    this.#seed = seed;
    this.#options = options;
    this.#planted = planted;
    this.#random = new Random(seed);
    const receive = (to: number, from: number, message: Parameters<HostileNetwork['send']>[2]): void => {
      this.#sites[to]?.receive(from, message);
    };
    this.#network = new HostileNetwork(this.#options, this.#random, this.#timeline, receive);
    const { siteCount } = this.#options;
    this.#checkers = [
      new CausalOrderChecker(siteCount),
      new TotalOrderChecker(),
      new SerializabilityChecker(siteCount),
      new InvariantChecker(SERVICE),
      new SessionChecker(siteCount),
      new ClockChecker((site) => this.#sites[site]?.nowMs ?? 0, LIMITS.maxClockSkewMs),
      new ExactlyOnceChecker(siteCount),
      new DurabilityChecker(siteCount),
      new QueueChecker(),
      new SeatChecker(),
      new AccountChecker(),
      new StrongReadChecker(),
      new LevelChecker(),
      new ConvergenceChecker(),
    ];
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
      const checker = error instanceof Fault ? this.#checking : 'crash';
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
    const { siteCount, skewMaxMs, attemptsMax, segmentBytes, checkpointBytes, largeGroup } = this.#options;
    const sites = Array.from({ length: siteCount }, (_, index) => `s${index}`);
    const service = this.#planted?.service ?? SERVICE;
    for (const site of sites.keys()) {
      const limits = { attemptsMax, ...LIMITS };
      this.#sites.push(
        new SimulatedSite({
          site: { service, site, sites, redLeader: 0, ...limits },
          makeMachine: this.#planted?.makeMachine ?? ((...args) => new SiteMachine(...args)),
          timeline: this.#timeline,
          skewMs: this.#random.between(-skewMaxMs, skewMaxMs),
          observer: this.#observerOf(site),
          disk: this.#makeDisk(),
          storage: { segmentBytes, checkpointBytes, largeGroup },
          Storage: this.#planted?.Storage ?? DurableStorage,
          send: (to, message) => this.#network.send(site, to, message),
          save: () => new Map(this.#checkers.map((checker) => [checker.name, checker.save?.(site)])),
          started: (saved) => {
            const notes = saved as ReadonlyMap<string, unknown> | undefined;
            this.#tell((checker) => checker.started?.(site, notes?.get(checker.name)));
          },
          submitted: (token, client, after) =>
            this.#tell((checker) => checker.submitted?.({ site, token, client, after })),
        }),
      );
      this.#planCrash(site);
      this.#planPause(site);
      this.#planFullDisk(site);
    }
    this.#planLoss();
    const wild = this.#sites[this.#random.between(0, siteCount - 1)] as SimulatedSite;
    wild.clockAheadMs = this.#options.wildClockAheadMs;
  }

  #startClients(): void {
    const { clientCount } = this.#options;
    for (let client = 0; client < clientCount; client += 1) {
      const shared = { timeline: this.#timeline, random: this.#random, history: this.#history, options: this.#options };
      this.#clients.push(new SimulatedClient({ client, sites: this.#sites, ...shared }));
    }
  }

  #makeDisk(): SimulatedDisk {
    const Disk = this.#planted?.Disk ?? SimulatedDisk;
    const { syncMeanMs, instantWriteShare: instantShare } = this.#options;
    const disk = new Disk({ timeline: this.#timeline, random: this.#random, syncMeanMs, instantShare });
    this.#disks.push(disk);
    return disk;
  }

  #observerOf(site: number): ReplicaObserver {
    return {
      created: (operation) => this.#tell((checker) => checker.created?.(site, operation)),
      applied: (operation, state) => {
        this.#count(operation);
        this.#tell((checker) => checker.applied?.(site, operation, state));
      },
      rejected: () => (this.#counts.rejected += 1),
      viewed: ({ token }) => {
        this.#counts.sessionViews += 1;
        this.#tell((checker) => checker.viewed?.(site, token));
      },
      quarantined: () => (this.#counts.quarantines += 1),
    };
  }

  #count(operation: AnyOperation): void {
    this.#counts['attempt' in operation ? 'red' : 'blue'] += 1;
  }

  #tell(notice: (checker: Checker) => void): void {
    for (const checker of this.#checkers) {
      this.#checking = checker.name;
      notice(checker);
    }
  }

  #planCrash(site: number): void {
    const { crashEveryMs, downMeanMs } = this.#options;
    if (crashEveryMs === Infinity) return;
    this.#timeline.after(this.#random.exponential(crashEveryMs), () => {
      if (this.#isHealed) return;
      this.#sites[site]?.crash(this.#random.exponential(downMeanMs));
      this.#planCrash(site);
    });
  }

  #planPause(site: number): void {
    const { pauseEveryMs, pauseMeanMs } = this.#options;
    if (pauseEveryMs === Infinity) return;
    this.#timeline.after(this.#random.exponential(pauseEveryMs), () => {
      if (this.#isHealed) return;
      this.#counts.pauses += 1;
      this.#sites[site]?.pause(this.#random.exponential(pauseMeanMs));
      this.#planPause(site);
    });
  }

  #planFullDisk(site: number): void {
    const { fullEveryMs, fullMeanMs } = this.#options;
    if (fullEveryMs === Infinity) return;
    this.#timeline.after(this.#random.exponential(fullEveryMs), () => {
      const disk = this.#disks[site];
      if (this.#isHealed || disk === undefined) return;
      this.#counts.fullDisks += 1;
      disk.isFull = true;
      this.#timeline.after(this.#random.exponential(fullMeanMs), () => (disk.isFull = false));
      this.#planFullDisk(site);
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

  #heal(): void {
    this.#isHealed = true;
    for (const disk of this.#disks) disk.isFull = false;
    this.#network.heal();
    for (const site of this.#sites) site.clockAheadMs = 0;
  }

  /** Lets late requests come and what is under way between the sites end. */
  #settle(): void {
    this.#timeline.run(this.#timeline.nowMs + SETTLE_MS);
    const untilMs = this.#timeline.nowMs + CONVERGE_MS + this.#options.wildClockAheadMs;
    while (!this.#areSitesAlike && this.#timeline.nowMs < untilMs) {
      this.#timeline.run(this.#timeline.nowMs + SETTLE_STEP_MS);
    }
  }

  get #areSitesAlike(): boolean {
    const vectors = this.#left.map(({ machine }) => machine?.replica.state.stable.join());
    return vectors.every((vector) => vector !== undefined && vector === vectors[0]);
  }

  /** The sites that are not lost for good. */
  get #left(): SimulatedSite[] {
    return this.#sites.filter(({ isLost }) => !isLost);
  }

  #checkProgress(): void {
    this.#checking = 'progress';
    const open = this.#history.operations.filter(({ answers, error }) => answers.length === 0 && error === undefined);
    const describe = (): string => open.map(({ id, operation }) => `${operation} ${id}`).join(', ');
    require(this.#areClientsDone, () => `not answered long after everything healed: ${describe()}`);
  }

  #checkEnd(): void {
    this.#checking = 'progress';
    const sites: FinalState['sites'][number][] = [];
    const lost = new Set<number>();
    for (const [site, { machine, isLost }] of this.#sites.entries()) {
      if (isLost) lost.add(site);
      else if (machine !== undefined) sites.push({ site, state: machine.replica.state });
    }
    require(sites.length + lost.size === this.#sites.length, () => 'a site is still down');
    this.#tell((checker) => checker.finished?.({ sites, lost, history: this.#history }));
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
      crashes: this.#sites.reduce((sum, { crashes }) => sum + crashes, 0),
      pauses: this.#counts.pauses,
      partitions: this.#network.partitions,
      'full disks': this.#counts.fullDisks,
      'torn writes': this.#disks.reduce((sum, { tornWrites }) => sum + tornWrites, 0),
      checkpoints: this.#sites.reduce((sum, { checkpoints }) => sum + checkpoints, 0),
      'starts from a checkpoint': this.#sites.reduce((sum, site) => sum + site.startsFromCheckpoint, 0),
      'sites lost': this.#sites.length - this.#left.length,
      'clocks quarantined': this.#counts.quarantines,
      'views in sessions': this.#counts.sessionViews,
      moves: sum(({ counts }) => counts.moves),
      'told UNKNOWN': sum(({ counts }) => counts.unknown),
      'told to be late': sum(({ counts }) => counts.late),
    };
    for (const [kind, count] of this.#network.sent) coverage[kind] = count;
    const history = this.#history.operations;
    return { seed: this.#seed, options: this.#options, coverage, history, ...(fault === undefined ? {} : { fault }) };
  }
}

/** How to run a seed otherwise than its profile says. */
export interface SimulateOptions {
  readonly planted?: PlantedFault | undefined;
  /** Take the place of what is drawn. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
}

/** Runs one seed. */
export function simulate(seed: number, profile: Profile = 'swarm', given: SimulateOptions = {}): RunResult {
  const { planted, overrides } = given;
  const options = { ...drawOptions(seed, profile), ...planted?.overrides, ...overrides };
  return new Simulation(seed, options, planted).run();
}
