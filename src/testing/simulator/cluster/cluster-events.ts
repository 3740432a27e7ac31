/**
 * Events of a cluster: lost, old or copied directories, joins, retirements and absences, with the
 * actions of operators: they change members and send state.
 */
import type { MemberChange } from '../../../server/service/records/records.ts';
import { isCorrectableError } from '../../../correctable/errors.ts';
import {
  getSavedSite,
  removeWildStamps,
  type KeptRed,
  type RecoveredState,
} from '../../../server/log/recovered-state.ts';
import { Random } from '../../../server/service/collections/random.ts';
import type { Origin, Origins } from '../../../server/service/records/origin.ts';
import type { Site } from '../../../server/site/site.ts';
import type { SiteOptions } from '../../../server/site/site-options.ts';
import type { RecoveredSite } from '../../../server/node/storage/recovery.ts';
import { installSite, type SiteLocation } from '../../../server/node/transfer/install-site.ts';
import type { Tables } from '../../../server/service/tables.ts';
import { PropertyViolation } from '../checkers/checker.ts';
import type { SimulatedDisk } from '../disk/disk.ts';
import type { SimulationOptions } from '../options.ts';
import { REPLICA_LIMITS } from '../replica-limits.ts';
import { SENT_BACK } from '../../../server/site/wire/envelope.ts';
import { SITE_DIRECTORY } from '../disk/site-directory.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import { EPOCH_MS } from '../simulated-clock.ts';
import { CopiedDirectories, type CopiedDirectory, type LogLeader } from './copied-directories.ts';
import type { InstalledCopy, SharedCopy } from './site-copies.ts';
import type { ClusterSteps } from './cluster-steps.ts';
import { RestoredLogs } from './restored-logs.ts';
import type { SimulatedPartitions } from './simulated-partitions.ts';
import { createTiming, type Timeline } from '../timeline.ts';

export interface ClusterContext {
  readonly options: SimulationOptions;
  readonly timeline: Timeline;
  /** All sites of the run so far. */
  readonly sites: readonly SimulatedSite[];
  /** The leaders of all red logs when the run begins. */
  readonly leaders: readonly Origin[];
  readonly partitions: SimulatedPartitions;
  readonly steps: ClusterSteps;
  /** The tables of the service. */
  readonly tables: Tables;
  /** By partition: how often its log was restored with a loss. */
  readonly losses: Map<number, number>;
  closeLinks(): void;
  isHealed(): boolean;
  makeDisk(): SimulatedDisk;
  /** Starts a site on the content of a disk. */
  addSite(
    origin: Origin,
    place: {
      readonly disk: SimulatedDisk;
      readonly directory: string;
      readonly copy: InstalledCopy;
    },
  ): void;
  /** Starts another node of a site on a copy of its directory. The checkers do not see it. */
  addTwin(site: SimulatedSite, disk: SimulatedDisk): SimulatedSite;
}

/** A state that is installed, and the task that ends with that. */
interface InstalledState {
  readonly state: RecoveredState;
  readonly task: string;
}

/** How the state of a stopped site is changed. */
interface StateChange {
  /** What it keeps of its copies of the red logs. Empty: all */
  readonly kept: readonly KeptRed[];
  /** Called if it has to go on with the state that it has. */
  onFailed(): void;
}

const RETRY_MS = 300;
/** The time to notice that a directory is lost, and to send the state. */
const NOTICE_MEAN_MS = 200;
const TRANSFER_MEAN_MS = 200;
const PROBE_MS = 50;

export class ClusterEvents {
  readonly #counts = {
    joins: 0,
    retirements: 0,
    'leaders to retire': 0,
    rebuilds: 0,
    absences: 0,
    transfers: 0,
    'old directories': 0,
    twins: 0,
  };
  readonly #context: ClusterContext;
  readonly #random: Random;
  readonly #tasks = new Set<string>();
  /** Nodes that must stop: their directories were put back or copied when all others knew more. */
  readonly #forks = new Set<SimulatedSite>();
  readonly #twins: SimulatedSite[] = [];
  /** Nodes that are not at the address of their site. */
  readonly #distant = new Set<SimulatedSite>();
  /** The number of copies that were put on disks. */
  #installed = 0;
  /** The origins that have had such nodes. */
  readonly #forked = new Set<Origin>();
  readonly #logs: RestoredLogs;
  readonly #copies: CopiedDirectories;

  constructor(context: ClusterContext, seed: number) {
    this.#context = context;
    this.#random = new Random(seed ^ 0xc1a5);
    this.#logs = new RestoredLogs({
      ...context,
      random: new Random(seed ^ 0x4e57),
      tasks: this.#tasks,
      close: (site) => this.#close(site),
      onceCalm: (run) => this.#onceCalm(run),
      return: (site, task, kept) => {
        const retry = (): void => {
          this.#tasks.add(task);
          context.timeline.schedule(RETRY_MS, attempt);
        };
        const attempt = (): void => {
          if (!this.#dropLogEnds(site, task, { kept, onFailed: retry }))
            this.#takeState(site, task, { kept, onFailed: retry });
        };
        attempt();
      },
    });
    this.#copies = new CopiedDirectories({
      ...context,
      random: this.#random,
      isSettled: () => this.#isSettled,
      onceCalm: (run) => this.#onceCalm(run),
      findLeader: () => this.#findLeader(),
    });
  }

  /** Returns what a site starts with, if the red logs were restored. */
  getPlaces(origin: Origin): Partial<SiteOptions> {
    return this.#logs.getPlaces(origin);
  }

  /** What happened, by name. */
  get counts(): Readonly<Record<string, number>> {
    return { ...this.#counts, ...this.#logs.counts };
  }

  /** Whether operators have a task, or a node must stop. */
  get isBusy(): boolean {
    return this.#tasks.size > 0 || this.#forks.size > 0;
  }

  describeTasks(): string {
    return [...this.#tasks, ...[...this.#forks].map(({ origin }) => `fork of site ${origin}`)].join(
      ', ',
    );
  }

  plan(): void {
    const { options } = this.#context;
    this.#at(options.joinAtMs, () => this.#join());
    this.#at(options.restoreAtMs, () => this.#onceCalm(() => this.#logs.begin()));
    this.#at(options.retireLeaderAtMs, () => this.#onceCalm(() => this.#retireLeader()));
    this.#at(options.retireAtMs, () => this.#onceSettled((site) => this.#retire(site)));
    this.#at(options.rebuildAtMs, () => this.#onceSettled((site) => this.#rebuild(site)));
    this.#at(options.awayAtMs, () => this.#onceSettled((site) => this.#goAway(site)));
    this.#at(options.oldDirectoryAtMs, () =>
      this.#copies.onceAllKnowMore(this.#pickVictim(), (copied) => this.#putBack(copied)),
    );
    this.#at(options.oldLeaderAtMs, () =>
      this.#copies.onceOnlyLogIsOld((copied) => this.#putBack(copied)),
    );
    this.#at(options.twinAtMs, () =>
      this.#copies.onceAllKnowMore(this.#pickVictim(), (copied) => this.#runTwice(copied)),
    );
    this.#at(options.distantTwinAtMs, () =>
      this.#onceSettled((site) =>
        this.#distant.add(this.#runTwice({ site, content: site.disk.copyContent() })),
      ),
    );
  }

  /**
   * Returns the nodes that a message to a site reaches. If there are two, it reaches one of them. A
   * node at another address gets only replies on the connections that it has opened.
   */
  pickReceivers(site: SimulatedSite | undefined, kind: string): readonly SimulatedSite[] {
    if (site === undefined) return [];
    const twins = this.#twins.filter(({ origin, isLost }) => origin === site.origin && !isLost);
    const near = twins.find((twin) => !this.#distant.has(twin));
    const reached = near !== undefined && this.#random.chance(0.5) ? near : site;
    if (!SENT_BACK.includes(kind)) return [reached];
    return [reached, ...twins.filter((twin) => this.#distant.has(twin))];
  }

  /**
   * Handles a node that has stopped because others have more of its stream. Only a node on a
   * restored or copied directory may.
   */
  onForked(site: SimulatedSite, message: string): void {
    if (!this.#forks.delete(site))
      throw new PropertyViolation(`site ${site.origin} has stopped: ${message}`, 'forks');
    if (this.#twins.includes(site)) site.lose();
    else if (this.#logs.leaders.includes(site.origin)) this.#replace(site);
    else this.#rebuild(site);
  }

  onPeerForked(peer: Origin, message: string): void {
    if (this.#forked.has(peer)) return;
    throw new PropertyViolation(`nothing is taken of site ${peer}: ${message}`, 'forks');
  }

  /** Handles a node that has stopped because its site was closed. */
  onRetired(site: SimulatedSite): void {
    this.#forks.delete(site);
  }

  /** Handles a site that lacks data that the others do not keep any more. */
  onBehind(site: SimulatedSite): void {
    const task = `transfer to site ${site.origin}`;
    if (this.#tasks.has(task)) return;
    // A site that takes a state cannot be sealed (CLU-G7 of docs/spec/cluster.md). If this one is
    // sealed first, it reports again after its next start.
    if (this.#logs.isRestoring) {
      const { machine } = site;
      this.#context.timeline.schedule(PROBE_MS, () => {
        if (site.machine === machine) this.onBehind(site);
      });
      return;
    }
    this.#tasks.add(task);
    this.#takeState(site, task, {
      kept: [],
      onFailed: () => site.start(),
    });
  }

  /**
   * Starts a stopped site on its own state without the ends of its copies. Returns whether that is
   * enough.
   */
  #dropLogEnds(site: SimulatedSite, task: string, { kept, onFailed }: StateChange): boolean {
    let found: RecoveredSite;
    try {
      found = site.recover();
    } catch (error) {
      if (!isCorrectableError(error, 'UNAVAILABLE')) throw error;
      onFailed();
      return true;
    }
    const own = site.unpackState(found.stored);
    const state = this.#context.steps.dropLogEnds(own, kept);
    if (state === undefined) return false;
    // The rows stay as they are, with the notes of the checkers.
    this.#installKept(site.disk, { state, found, task }, (error) =>
      error === undefined ? site.start() : onFailed(),
    );
    return true;
  }

  /** Stops a site, and starts it with the shared state of another one. */
  #takeState(site: SimulatedSite, task: string, { kept, onFailed }: StateChange): void {
    const isDonor = ({ origin, machine }: SimulatedSite): boolean =>
      origin !== site.origin && machine?.options.origins.get(origin).state === 'open';
    this.#transfer(isDonor, (copy) => {
      if (site.isLost) return void this.#tasks.delete(task);
      const { disk } = site;
      site.stop();
      let found: RecoveredSite;
      let state: RecoveredState;
      try {
        found = site.recover();
        state = this.#context.steps.mergeSharedIntoSite(
          site.origin,
          site.unpackState(found.stored),
          copy.shared,
          kept,
        );
      } catch (error) {
        if (!isCorrectableError(error, 'UNAVAILABLE')) throw error;
        // The donor lacks data that is here. Another donor has it, or the same one later. Or this
        // disk is damaged.
        this.#tasks.delete(task);
        return onFailed();
      }
      // On a full disk the site requests the state again.
      this.#install(disk, { state, found, task }, (error, note) => {
        if (error !== undefined) return onFailed();
        this.#counts.transfers += 1;
        return site.startFrom({ note, notes: copy.notes });
      });
    });
  }

  #at(atMs: number, run: () => void): void {
    if (atMs === Infinity) return;
    this.#context.timeline.schedule(atMs, () => {
      if (!this.#context.isHealed()) run();
    });
  }

  #later(meanMs: number, run: () => void): void {
    this.#context.timeline.schedule(this.#random.exponential(meanMs), run);
  }

  #join(): void {
    const name = `s${this.#context.sites.length}`;
    this.#counts.joins += 1;
    this.#begin(name, `${name}-first`, (origin) => `site ${origin} joins`);
  }

  /** Retires a site, whether its machine runs or it is lost for good. */
  #retire(site: SimulatedSite): void {
    this.#counts.retirements += 1;
    if (this.#random.chance(0.5)) site.lose();
    else this.#forks.add(site);
    this.#close(site);
  }

  /** Proposes to retire the leader of a log beside `main`. That is void. */
  #retireLeader(): void {
    const leader = this.#findLeader();
    const members = this.#members;
    if (leader === undefined || members.length === 0) return;
    this.#counts['leaders to retire'] += 1;
    members[this.#random.between(0, members.length - 1)]?.proposeChange({
      name: leader.site.name,
      directory: null,
    });
  }

  /** Returns a site that leads a log beside `main`, and not that of `main`. */
  #findLeader(): LogLeader | undefined {
    const { leaders } = this.#logs;
    const [main] = leaders;
    const site = this.#context.sites.find(
      ({ origin, isLost }) => !isLost && origin !== main && leaders.includes(origin),
    );
    return site && { site, partition: leaders.indexOf(site.origin) };
  }

  /** Changes the members until a site is closed. */
  #close(site: SimulatedSite): void {
    const task = `retire site ${site.origin}`;
    this.#tasks.add(task);
    const { name, origin } = site;
    // The site is retired once all others have confirmed it. Before, a lost site could take the
    // only knowledge of the change with it.
    const findClosed = (origins: Origins): Origin | undefined =>
      origins.closed.find((closed) => closed === origin && origins.get(closed).state === 'closed');
    this.#change({ name, directory: null }, findClosed, () => this.#tasks.delete(task));
  }

  #onceCalm(run: () => void): void {
    if (this.#context.isHealed()) return;
    if (this.#isSettled) return run();
    this.#context.timeline.schedule(PROBE_MS, () => this.#onceCalm(run));
  }

  #onceSettled(run: (site: SimulatedSite) => void): void {
    if (this.#context.isHealed()) return;
    const site = this.#pickVictim();
    if (site?.machine !== undefined) return run(site);
    this.#context.timeline.schedule(PROBE_MS, () => this.#onceSettled(run));
  }

  #rebuild(site: SimulatedSite): void {
    site.lose();
    this.#counts.rebuilds += 1;
    this.#begin(
      site.name,
      `${site.name}-after-${site.origin}`,
      (origin) => `site ${origin} is rebuilt`,
    );
  }

  /** Restores the logs without a leader that cannot go on. */
  #replace(site: SimulatedSite): void {
    site.lose();
    const restore = (): void => {
      if (this.#isSettled) return this.#logs.restoreWithout([site]);
      this.#context.timeline.schedule(PROBE_MS, restore);
    };
    restore();
  }

  #goAway(site: SimulatedSite): void {
    this.#counts.absences += 1;
    site.crash(this.#context.options.awayForMs);
  }

  /**
   * Opens an origin of a site on an empty directory, with the state of a site that has delivered
   * that change.
   */
  #begin(name: string, directory: string, describe: (origin: Origin) => string): void {
    const task = describe(this.#context.sites.length as Origin);
    this.#tasks.add(task);
    const findBegun = (origins: Origins): Origin | undefined =>
      origins.members.find((member) => origins.get(member).directory === directory);
    this.#later(NOTICE_MEAN_MS, () =>
      this.#change({ name, directory }, findBegun, (origin) => {
        const isDonor = ({ machine }: SimulatedSite): boolean =>
          machine?.redLogs.areAllWith(origin) === true;
        this.#transfer(isDonor, ({ shared, notes }) => {
          const disk = this.#context.makeDisk();
          this.#install(
            disk,
            { state: this.#context.steps.createSiteFromShared(shared), found: undefined, task },
            (_error, note) =>
              this.#context.addSite(origin, {
                disk,
                directory,
                copy: { note, notes },
              }),
          );
        });
      }),
    );
  }

  /** Proposes a change until a site has delivered it and finds its origin. */
  #change(
    change: MemberChange,
    find: (origins: Origins) => Origin | undefined,
    done: (origin: Origin) => void,
  ): void {
    const members = this.#members;
    for (const { machine } of members) {
      const origin = machine && find(machine.options.origins);
      if (origin !== undefined) return done(origin);
    }
    if (members.length > 0)
      members[this.#random.between(0, members.length - 1)]?.proposeChange(change);
    this.#context.timeline.schedule(RETRY_MS, () => this.#change(change, find, done));
  }

  /** Requests the shared state of sites until one has sent it. */
  #transfer(isDonor: (site: SimulatedSite) => boolean, done: (copy: SharedCopy) => void): void {
    let isTaken = false;
    const donors = this.#members.filter(isDonor);
    const donor = donors[this.#random.between(0, Math.max(0, donors.length - 1))];
    donor?.takeShared((copy) => {
      if (isTaken) return;
      isTaken = true;
      const latestMs = EPOCH_MS + this.#context.timeline.nowMs + REPLICA_LIMITS.maxClockSkewMs;
      const shared = removeWildStamps(copy.shared, latestMs);
      this.#later(TRANSFER_MEAN_MS, () => done({ ...copy, shared }));
    });
    this.#context.timeline.schedule(RETRY_MS * 3, () => {
      if (!isTaken) this.#transfer(isDonor, done);
      isTaken = true;
    });
  }

  /** Replaces the state on a disk by a new one, which has all its rows. */
  #install(
    disk: SimulatedDisk,
    { state, found, task }: { found: RecoveredSite | undefined } & InstalledState,
    done: (error: Error | undefined, note: number) => void,
  ): void {
    const { nextSegment = 1, lastCommit = 0 } = found ?? {};
    const note = -(this.#installed += 1);
    const checkpoint = state.checkpoint && {
      ...state.checkpoint,
      smallParts: { ...getSavedSite(state.checkpoint), note },
    };
    const noted = { ...state, checkpoint };
    const numbers = { nextSegment, commit: lastCommit + 1 };
    // All rows are in the sections of the state.
    installSite(
      { ...this.#locate(disk), state: noted, sharedRows: [], ...numbers },
      this.#endTask(task, (error) => done(error, note)),
    );
  }

  /** Replaces the logs on a disk. The rows stay. */
  #installKept(
    disk: SimulatedDisk,
    { state, found, task }: { found: RecoveredSite } & InstalledState,
    done: (error: Error | undefined) => void,
  ): void {
    const { nextSegment, lastCommit, lastCheckpoint } = found;
    const commit = lastCheckpoint?.file ?? lastCommit;
    installSite({ ...this.#locate(disk), state, nextSegment, commit }, this.#endTask(task, done));
  }

  #endTask(
    task: string,
    done: (error: Error | undefined) => void,
  ): (error: Error | undefined) => void {
    return (error) => {
      this.#tasks.delete(task);
      done(error);
    };
  }

  #locate(disk: SimulatedDisk): SiteLocation {
    return {
      files: disk.mount(),
      timing: createTiming(this.#context.timeline),
      directory: SITE_DIRECTORY,
      site: 'site',
      rows: disk.rows,
      tables: this.#context.tables,
    };
  }

  /** The sites that run, and have not been closed as far as they know. */
  get #members(): SimulatedSite[] {
    return this.#context.sites.filter(
      ({ machine, origin }) => machine?.options.origins.isMember(origin) === true,
    );
  }

  /**
   * Whether all earlier losses are repaired. Data that two sites lose at once cannot be restored.
   */
  get #isSettled(): boolean {
    if (this.#tasks.size > 0 || this.#forks.size > 0) return false;
    if (this.#context.sites.some(({ isLost, machine }) => !isLost && machine === undefined))
      return false;
    return this.#members.every(({ machine }) => {
      const { blue, options } = machine as Site;
      return options.origins.sites.every((origin) => {
        const { state, final } = options.origins.get(origin);
        return (
          state === 'open' ||
          (final !== undefined && blue.getHeld(origin).sequence >= final.sequence)
        );
      });
    });
  }

  /** Returns a site that may be lost, which never leads a red log. */
  #pickVictim(): SimulatedSite | undefined {
    if (!this.#isSettled) return undefined;
    const eligible = this.#context.sites.filter(
      ({ isLost, origin }) => !isLost && !this.#logs.leaders.includes(origin),
    );
    return eligible[this.#random.between(0, Math.max(0, eligible.length - 1))];
  }

  #putBack({ site, content }: CopiedDirectory): void {
    this.#counts['old directories'] += 1;
    this.#forks.add(site);
    this.#forked.add(site.origin);
    site.stop();
    site.disk.putContent(content);
    this.#later(this.#context.options.downMeanMs, () => {
      if (site.isLost) return;
      // Only its first start is certainly not above the last one of its site.
      site.isSpared = true;
      site.start();
    });
  }

  /** Runs another node on a copy. It must stop, and show nothing before. */
  #runTwice({ site, content }: CopiedDirectory): SimulatedSite {
    this.#counts.twins += 1;
    const disk = this.#context.makeDisk();
    disk.putContent(content);
    const twin = this.#context.addTwin(site, disk);
    this.#twins.push(twin);
    this.#forks.add(twin);
    this.#forked.add(site.origin);
    return twin;
  }
}
