/**
 * One simulated run: the replica and the log of production on a virtual clock, network and disks. Phase 1 checks safety
 * under faults; in phase 2 everything heals, and all clients must end and all sites converge.
 */
import type { ReplicaObserver } from '../../server/redblue/replica-port.ts';
import { SiteMachine } from '../../server/redblue/site-machine.ts';
import { AccountChecker } from './checkers/accounts.ts';
import { CausalOrderChecker } from './checkers/causal-order.ts';
import { Fault, require } from './checkers/checker.ts';
import type { AnyOperation, Checker } from './checkers/checker.ts';
import { ConvergenceChecker } from './checkers/convergence.ts';
import { ExactlyOnceChecker } from './checkers/exactly-once.ts';
import { InvariantChecker } from './checkers/invariants.ts';
import { QueueChecker } from './checkers/queues.ts';
import { StrongReadChecker } from './checkers/strong-reads.ts';
import { TotalOrderChecker } from './checkers/total-order.ts';
import { SimulatedDisk } from './disk.ts';
import { History } from './history.ts';
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
}

const FAULTY_PHASE_MS = 5000;
const HEALED_PHASE_MS = 120_000;
const SETTLE_MS = 5000;
const RESEND_AFTER_MS = 100;
const LIMITS = { reachTimeoutMs: 1000, sessionWaitMs: 1000, maxClockSkewMs: 2000 };
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
  readonly #counts = { blue: 0, red: 0, rejected: 0, pauses: 0, fullDisks: 0 };
  #checking = '';
  #isHealed = false;

  constructor(seed: number, profile: Profile, planted?: PlantedFault) {
    this.#seed = seed;
    this.#options = drawOptions(seed, profile);
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
      new InvariantChecker(SERVICE),
      new ExactlyOnceChecker(siteCount),
      new QueueChecker(),
      new AccountChecker(),
      new StrongReadChecker(),
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
      this.#timeline.run(this.#timeline.nowMs + SETTLE_MS);
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
    const { siteCount, skewMaxMs, attemptsMax, segmentBytes, checkpointBytes } = this.#options;
    const sites = Array.from({ length: siteCount }, (_, index) => `s${index}`);
    const service = this.#planted?.service ?? SERVICE;
    for (const site of sites.keys()) {
      const limits = { resendAfterMs: RESEND_AFTER_MS, attemptsMax, ...LIMITS };
      this.#sites.push(
        new SimulatedSite({
          site: { service, site, sites, redLeader: 0, ...limits },
          makeMachine: this.#planted?.makeMachine ?? ((...args) => new SiteMachine(...args)),
          timeline: this.#timeline,
          skewMs: this.#random.between(-skewMaxMs, skewMaxMs),
          observer: this.#observerOf(site),
          disk: this.#makeDisk(),
          storage: { segmentBytes, checkpointBytes },
          send: (to, message) => this.#network.send(site, to, message),
          save: () => new Map(this.#checkers.map((checker) => [checker.name, checker.save?.(site)])),
          started: (saved) => {
            const notes = saved as ReadonlyMap<string, unknown> | undefined;
            this.#tell((checker) => checker.started?.(site, notes?.get(checker.name)));
          },
        }),
      );
      this.#planCrash(site);
      this.#planPause(site);
      this.#planFullDisk(site);
    }
  }

  #startClients(): void {
    const { clientCount, siteCount } = this.#options;
    for (let client = 0; client < clientCount; client += 1) {
      const siteIndex = this.#random.between(0, siteCount - 1);
      const site = this.#sites[siteIndex] as SimulatedSite;
      const shared = { timeline: this.#timeline, random: this.#random, history: this.#history, options: this.#options };
      this.#clients.push(new SimulatedClient({ client, siteIndex, site, ...shared }));
    }
  }

  #makeDisk(): SimulatedDisk {
    const Disk = this.#planted?.Disk ?? SimulatedDisk;
    const { syncMeanMs } = this.#options;
    const disk = new Disk({ timeline: this.#timeline, random: this.#random, syncMeanMs });
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

  #heal(): void {
    this.#isHealed = true;
    for (const disk of this.#disks) disk.isFull = false;
    this.#network.heal();
  }

  #checkProgress(): void {
    this.#checking = 'progress';
    const open = this.#history.operations.filter(({ answers, error }) => answers.length === 0 && error === undefined);
    const describe = (): string => open.map(({ id, operation, site }) => `${operation} ${id} at ${site}`).join(', ');
    require(this.#areClientsDone, () => `not answered long after everything healed: ${describe()}`);
  }

  #checkEnd(): void {
    const sites = this.#sites.map((site) => site.machine?.replica.state).filter((state) => state !== undefined);
    this.#checking = 'progress';
    require(sites.length === this.#sites.length, () => 'a site is still down');
    this.#tell((checker) => checker.finished?.({ sites, history: this.#history }));
  }

  #result(fault?: RunResult['fault']): RunResult {
    const coverage: Record<string, number> = {
      'operations answered': this.#history.answered().length,
      'operations failed': this.#history.operations.filter(({ error }) => error !== undefined).length,
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
    };
    for (const [kind, count] of this.#network.sent) coverage[kind] = count;
    return { seed: this.#seed, options: this.#options, coverage, ...(fault === undefined ? {} : { fault }) };
  }
}

/** Runs one seed. */
export function simulate(seed: number, profile: Profile = 'swarm', planted?: PlantedFault): RunResult {
  return new Simulation(seed, profile, planted).run();
}
