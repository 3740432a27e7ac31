/**
 * Sites that go away with the leaders of red logs, so that an operator restores all logs at the
 * others. This chooses copies, openings and what a returning site keeps by the code of
 * `restore-red`. Sealing a site stops it, as in production. Requests between the operator and the
 * sites are not simulated.
 */
import {
  createGeneration,
  type CheckedLog,
  type SealedSite,
} from '../../../server/node/red-log/chosen-copies.ts';
import type { LogCopy } from '../../../server/node/red-log/log-copy.ts';
import type { LogVoters } from '../../../server/node/red-log/log-voters.ts';
import { findNamedEntries, type NamedEntries } from '../../../server/node/red-log/named-entries.ts';
import {
  getBegins,
  getLogs,
  getNamedVoters,
  type GenerationLog,
  type RedGeneration,
  type VotedPartition,
} from '../../../server/node/red-log/red-generation.ts';
import type { Random } from '../../../server/service/collections/random.ts';
import type { KeptRed } from '../../../server/log/recovered-state.ts';
import type { Origin } from '../../../server/service/records/origin.ts';
import type { LogOpening, RedLogPlace, SiteOptions } from '../../../server/site/site-options.ts';
import type { SimulationOptions } from '../options.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import type { ClusterSteps } from './cluster-steps.ts';
import { countEntries } from './site-copies.ts';
import type { SimulatedPartitions } from './simulated-partitions.ts';
import type { Timeline } from '../timeline.ts';

export interface RestoredLogsContext {
  readonly options: SimulationOptions;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly sites: readonly SimulatedSite[];
  readonly partitions: SimulatedPartitions;
  /** The leaders of the first generation. */
  readonly leaders: readonly Origin[];
  readonly steps: ClusterSteps;
  /** By partition: how often its log was restored with a loss. */
  readonly losses: Map<number, number>;
  /** The tasks of operators. */
  readonly tasks: Set<string>;
  /** Runs a function once all earlier losses are repaired. */
  onceCalm(run: () => void): void;
  /** Forgets the messages in flight: all links are closed. */
  closeLinks(): void;
  /** Retires a site that is lost for good. */
  close(site: SimulatedSite): void;
  /**
   * Starts a stopped site without the ends of its copies: on its own state, or on that of another
   * site.
   */
  return(site: SimulatedSite, task: string, kept: readonly KeptRed[]): void;
}

/** What a node writes down of the copies of logs that it has. */
interface KnownCopies {
  readonly copy: number;
  readonly begins: readonly LogCopy[] | undefined;
}

const FIRST: KnownCopies = { copy: 0, begins: undefined };
const TASK = 'restore the red logs';
/** How long an operator, each seal, each start and the return of a site take. */
const [NOTICE_MEAN_MS, SEAL_MEAN_MS, OPEN_MEAN_MS, RETURN_MEAN_MS] = [300, 50, 100, 500];
const MAX_DRAWS = 20;
const PROBE_MS = 50;
/** How often the red logs are restored in a run. */
const MAX_RESTORATIONS = 2;

export class RestoredLogs {
  readonly counts = {
    restorations: 0,
    'restorations with a loss': 0,
    'copies of logs dropped': 0,
    'logs that all sites vote for': 0,
  };
  readonly #context: RestoredLogsContext;
  readonly #steps: ClusterSteps;
  readonly #copies = new Map<Origin, KnownCopies>();
  #red: RedGeneration = { generation: 0, leader: null };
  #leaders: readonly Origin[];
  /** The number of sites that do not follow the generation yet. */
  #pending = 0;

  constructor(context: RestoredLogsContext) {
    this.#context = context;
    this.#steps = context.steps;
    this.#leaders = context.leaders;
  }

  /** The leaders of all red logs. */
  get leaders(): readonly Origin[] {
    return this.#leaders;
  }

  /** Whether an operator restores the logs at this time. */
  get isRestoring(): boolean {
    return this.#context.tasks.has(TASK);
  }

  /** Returns what a site starts with in the present generation. */
  getPlaces(origin: Origin): Partial<SiteOptions> {
    // A site that joins begins with a copy of the present generation.
    if (!this.#copies.has(origin)) this.#noteFollowed(origin);
    const { generation } = this.#red;
    if (generation === 0) return {};
    const [main, ...others] = getLogs(this.#red);
    return {
      generation,
      redLeader: this.#leaders[0] as Origin,
      redOpening: toOpening(main),
      redLogs: this.#redLogs.map((place, index) => ({
        ...place,
        voters: getNamedVoters(this.#red, this.#getPartition(index + 1)),
        leader: this.#leaders[index + 1] as Origin,
        opening: toOpening(others[index]),
      })),
    };
  }

  /** Takes sites away, and restores the logs at the others. */
  begin(): void {
    const { timeline, onceCalm } = this.#context;
    const away = this.#drawAway();
    if (away === undefined) return;
    const lost = this.#drawLost(away);
    // What two sites lose at once cannot be restored.
    if (lost.length > 1 && !this.#areKnownElsewhere(lost)) {
      timeline.schedule(PROBE_MS, () => onceCalm(() => this.begin()));
      return;
    }
    for (const site of away)
      if (lost.includes(site)) site.lose();
      else site.stop();
    this.restoreWithout(away);
  }

  /** Restores the logs at the other sites than these. */
  restoreWithout(away: readonly SimulatedSite[]): void {
    const { options, timeline, tasks } = this.#context;
    tasks.add(TASK);
    this.counts.restorations += 1;
    const remaining = this.#openSites.filter((site) => !away.includes(site));
    const logs = this.#checkLogs(remaining);
    // An operator takes longer than clocks differ. Otherwise the opening of a leader whose clock is
    // behind could have a lower stamp than what is lost.
    timeline.schedule(2 * options.maxSkewMs, () =>
      this.#later(NOTICE_MEAN_MS, () => this.#seal(remaining, logs, away)),
    );
  }

  get #redLogs(): readonly RedLogPlace[] {
    const { partitions, sites } = this.#context;
    const [first] = sites;
    const origins = partitions.createOrigins();
    return first === undefined ? [] : (partitions.createOptions(origins).redLogs ?? []);
  }

  get #openSites(): readonly SimulatedSite[] {
    return this.#context.sites.filter(({ isLost }) => !isLost);
  }

  /**
   * Draws sites that go away, of which one leads a log. They are few enough that nothing is lost,
   * or enough that something may be.
   */
  #drawAway(): readonly SimulatedSite[] | undefined {
    const { random, options } = this.#context;
    if (options.hasFewVoters && options.acceptsLoss) return this.#drawVoters();
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const leader = random.pick(this.#leaders as [Origin, ...Origin[]]);
      const share = options.acceptsLoss ? 0.6 : 0.3;
      const away = this.#openSites.filter(
        ({ origin }) => origin === leader || random.chance(share),
      );
      const remaining = this.#openSites.filter((site) => !away.includes(site));
      if (remaining.every(({ machine }) => machine === undefined)) continue;
      const hasLoss = this.#checkLogs(remaining).some(({ losing }) => losing.length > 0);
      if (hasLoss === options.acceptsLoss) return away;
    }
    return undefined;
  }

  /** Draws a log with named voters, and returns these. */
  #drawVoters(): readonly SimulatedSite[] | undefined {
    const [first, ...others] = this.#redLogs
      .map(({ voters = [] }) => this.#openSites.filter(({ name }) => voters.includes(name)))
      .filter((sites) => sites.length > 0);
    return first && this.#context.random.pick([first, ...others]);
  }

  /** Draws which of the sites that go away are lost for good. */
  #drawLost(away: readonly SimulatedSite[]): readonly SimulatedSite[] {
    const { options, random } = this.#context;
    if (options.acceptsLoss) return options.hasFewVoters ? away : [];
    return random.chance(0.5) ? away.slice(0, 1) : [];
  }

  /** Whether the other sites have all blue operations of these. */
  #areKnownElsewhere(lost: readonly SimulatedSite[]): boolean {
    const countAt = ({ machine }: SimulatedSite, origin: Origin): number =>
      machine?.blue.getHeld(origin).sequence ?? 0;
    const others = this.#openSites.filter((site) => !lost.includes(site));
    return lost.every((site) =>
      others.some((other) => countAt(other, site.origin) >= countAt(site, site.origin)),
    );
  }

  /** Returns all logs, with the sites that may have confirmed more. */
  #checkLogs(remaining: readonly SimulatedSite[]): readonly CheckedLog[] {
    const { partitions, options } = this.#context;
    const { names } = partitions.partitions;
    const present = remaining.find(({ machine }) => machine !== undefined);
    const origins = present?.machine?.options.origins;
    const members = origins?.members ?? [];
    const lists = [members.filter((site) => origins?.get(site).state === 'open'), members].map(
      (list) => list.map((site) => origins?.getName(site) as string),
    );
    const sealed = remaining.map(({ name }) => name);
    return names.map((name, partition) => {
      const log = {
        partition,
        name: names.length === 1 ? undefined : name,
        ...this.#findVoters(
          [...lists, this.#listWithVote(lists, partition, remaining)],
          partition,
          remaining,
        ),
        leader: undefined,
        fileLeader: origins?.getName(this.#leaders[partition] as Origin),
        acceptsLoss: options.acceptsLoss,
        isConfirmedByOne: false,
      };
      return { ...log, losing: this.#steps.findLosing(log, sealed, []) };
    });
  }

  /** Returns the open sites without those that have no vote in their own copy. */
  #listWithVote(
    [open = []]: readonly (readonly string[])[],
    partition: number,
    remaining: readonly SimulatedSite[],
  ): readonly string[] {
    const hasNone = ({ machine }: SimulatedSite): boolean =>
      machine?.redLogs.withoutVote.includes(partition) === true;
    const without = remaining.filter(hasNone).map(({ name }) => name);
    return open.filter((name) => !without.includes(name));
  }

  #findVoters(
    lists: readonly (readonly string[])[],
    partition: number,
    remaining: readonly SimulatedSite[],
  ): LogVoters {
    const names = remaining.map(({ name }) => name);
    const place = this.#getPartition(partition);
    return this.#steps.findLogVoters(lists, place, [this.#red], names);
  }

  /** Returns a partition as the cluster file has it. */
  #getPartition(partition: number): VotedPartition {
    const { names } = this.#context.partitions.partitions;
    const voters = this.#redLogs[partition - 1]?.voters;
    return { name: names[partition] ?? '', voters };
  }

  /** Stops the sites one after the other, while the others still work. */
  #seal(
    sites: readonly SimulatedSite[],
    logs: readonly CheckedLog[],
    away: readonly SimulatedSite[],
  ): void {
    let sealed = 0;
    for (const site of sites)
      this.#later(SEAL_MEAN_MS, () => {
        site.stop();
        sealed += 1;
        if (sealed === sites.length) this.#open(sites, logs, away);
      });
  }

  #open(
    sealed: readonly SimulatedSite[],
    logs: readonly CheckedLog[],
    away: readonly SimulatedSite[],
  ): void {
    const found: readonly SealedSite[] = sealed.map((site) => ({
      site: site.name,
      copies: this.#readCopies(site),
    }));
    const chosen = logs.map((log) => this.#steps.chooseCopy(log, found, [], []));
    const openings = logs.map((log) => this.#findOpening(log, sealed));
    const { generation, votedByAll = [] } = this.#red;
    this.#red = createGeneration(generation + 1, chosen, logs, openings);
    this.counts['logs that all sites vote for'] +=
      (this.#red.votedByAll?.length ?? 0) - votedByAll.length;
    this.#leaders = chosen.map(
      ({ site }) => sealed.find(({ name }) => name === site)?.origin as Origin,
    );
    this.#context.closeLinks();
    const returning = away.filter(({ isLost }) => !isLost);
    this.#pending = sealed.length + returning.length;
    for (const site of sealed)
      if (this.#leaders.includes(site.origin)) this.#follow(site);
      else this.#later(OPEN_MEAN_MS, () => this.#follow(site));
    for (const site of returning) this.#later(RETURN_MEAN_MS, () => this.#follow(site));
    for (const site of away) if (site.isLost) this.#context.close(site);
  }

  /** Returns what a log begins with that may have lost records. */
  #findOpening(
    { partition, losing }: CheckedLog,
    sealed: readonly SimulatedSite[],
  ): NamedEntries | undefined {
    if (losing.length === 0) return undefined;
    const { partitions, losses } = this.#context;
    losses.set(partition, (losses.get(partition) ?? 0) + 1);
    this.counts['restorations with a loss'] += 1;
    const log = partitions.createOrigins().logs[partition] as Origin;
    return this.#steps.mergeNamedEntries(
      sealed.map((site) => findNamedEntries(readState(site), partition, log)),
    );
  }

  #readCopies(site: SimulatedSite): readonly LogCopy[] {
    const { copy, begins } = this.#copies.get(site.origin) ?? FIRST;
    const state = readState(site);
    const { names } = this.#context.partitions.partitions;
    return names.map((_, partition) => {
      const length = countEntries(state, partition);
      return { copy, length, begin: begins?.[partition] };
    });
  }

  /** Starts a site that is stopped in the present generation. */
  #follow(site: SimulatedSite): void {
    const { tasks } = this.#context;
    const logs = getLogs(this.#red);
    const copies = this.#readCopies(site);
    const kept = copies.map((copy, partition): KeptRed => {
      const { base, opening } = logs[partition] ?? {};
      const length = (base && this.#steps.countShared(copy, base)) ?? 0;
      return { length, isLossy: opening !== undefined };
    });
    this.#noteFollowed(site.origin);
    const isWhole = copies.every(({ length }, partition) => kept[partition]?.length === length);
    if (isWhole) site.start();
    else {
      this.counts['copies of logs dropped'] += 1;
      const task = `return of site ${site.origin}`;
      tasks.add(task);
      this.#context.return(site, task, kept);
    }
    this.#pending -= 1;
    if (this.#pending > 0) return;
    tasks.delete(TASK);
    if (this.counts.restorations < MAX_RESTORATIONS) this.#context.onceCalm(() => this.begin());
  }

  #noteFollowed(origin: Origin): void {
    const { generation: copy } = this.#red;
    this.#copies.set(origin, { copy, begins: getBegins(this.#red) });
  }

  #later(meanMs: number, run: () => void): void {
    const { timeline, random } = this.#context;
    timeline.schedule(random.exponential(meanMs), run);
  }
}

/** Returns how a log begins, if it was restored with a loss. */
function toOpening(log: GenerationLog | undefined): LogOpening | undefined {
  const { base, opening } = log ?? {};
  return base && opening && { ...opening, length: base.length };
}

/** Returns the state that a stopped site has on its disk. */
function readState(site: SimulatedSite): ReturnType<SimulatedSite['unpackState']> {
  return site.unpackState(site.recover().stored);
}
