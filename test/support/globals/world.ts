/**
 * A world of several red logs in memory: clients, sites that stop and restart, records that land
 * late or twice. It draws everything from a seed, and judges the run by what clients and sites have
 * seen.
 */
import { getExecutionName } from '../../../src/server/site/lane/global-records.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type {
  ExecutionName,
  GlobalOperation,
  RedOperation,
} from '../../../src/server/service/records/records.ts';
import { getMaxEntry } from '../../../src/server/service/records/vector.ts';
import {
  getRetryDelayMs,
  type SiteProgress,
} from '../../../src/server/site/lane/requests/global-coordinator.ts';
import {
  findStrictCycle,
  type StrictOperation,
} from '../../../src/testing/simulator/checkers/strict.ts';
import {
  getOthers,
  LOGS,
  RESEND_AFTER_MS,
  ROWS,
  SITE_ORIGINS,
  SITES,
  toEffect,
  toKey,
  toName,
  type Parts,
  type Rows,
  type WorldRecord,
} from './parts.ts';
import { ProgressChecker } from './progress.ts';
import { createRandom } from './seeded-random.ts';
import { GlobalSite, type BlueOperation, type SavedSite } from './site.ts';

export interface WorldOptions {
  readonly parts: Parts;
  /** The stamps that a certifier remembers. */
  readonly windowCommits: number;
  /** Whether a site is lost for good. Otherwise sites restart from checkpoints. */
  readonly losesSite: boolean;
  /** The share of records that land twice. */
  readonly copies: number;
  /** The share of records that land late. */
  readonly late: number;
  /** How readily one site, drawn by the seed, takes what one log delivers, from 0 to 1. */
  readonly lagging: number;
  /** The share of operations that may touch several logs. */
  readonly globals: number;
  /** How readily blue operations reach other sites, from 0 to 1. */
  readonly blueSpeed: number;
  /** Whether logs order nothing for a while, now and then. */
  readonly haltsLogs: boolean;
}

export interface RunResult {
  /** What was wrong, the first first. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Execution {
  readonly operation: RedOperation;
  readonly seen: ReadonlyMap<string, string | undefined>;
}

interface ClientOperation {
  readonly id: string;
  readonly home: number;
  /** How likely each other log is to be touched. */
  readonly spread: number;
  readonly begunAt: number;
  endedAt?: number;
  how?: 'committed' | 'closed';
  attempts: number;
  held: number;
}

interface WorldSite {
  live: GlobalSite;
  epoch: number;
  isDead: boolean;
  saved: SavedSite | undefined;
  /** Ends the operations of clients that wait here. */
  readonly waiting: Map<string, (how: 'committed' | 'closed') => void>;
  readonly inFlight: Set<string>;
}

/** A site that a log is ahead of. */
interface Behind {
  readonly site: WorldSite;
  readonly number: number;
}

/** A log with a smaller window may forget a refusal before all holds have ended. */
export const LARGE_WINDOW = 1000;
const NONE: ReadonlySet<ExecutionName> = new Set();

const CLIENTS = 4;
const OPERATIONS_PER_CLIENT = 8;
const MAX_ATTEMPTS = 4;
const MAX_HELD = 30;
const MAX_STEPS = 60_000;
const IDLE_ROUNDS = 8;

/** Runs one world. */
export function runGlobals(seed: number, options: WorldOptions): RunResult {
  return new World(seed, options).run();
}

class World {
  readonly #options: WorldOptions;
  readonly #random: () => number;
  readonly #logs: WorldRecord[][] = Array.from({ length: LOGS }, () => []);
  readonly #sites: WorldSite[];
  readonly #finals: (number | undefined)[] = [];
  readonly #received: BlueOperation[][][];
  readonly #events: { readonly run: () => void; readonly weight: number }[] = [];
  readonly #timers: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #executions = new Map<string, Execution>();
  readonly #operations = new Map<string, ClientOperation>();
  readonly #counts: Record<string, number> = {};
  readonly #progress = new ProgressChecker();
  readonly #laggard: Behind;
  #step = 0;
  #nowMs = 0;
  #lost: number | undefined;
  #fenced = false;

  constructor(seed: number, options: WorldOptions) {
    this.#options = options;
    this.#random = createRandom(seed);
    this.#received = SITE_ORIGINS.map(() => Array.from({ length: SITES + 1 }, () => []));
    this.#sites = SITE_ORIGINS.map((_, site) => ({
      live: this.#createSite(site),
      epoch: 1,
      isDead: false,
      saved: undefined,
      waiting: new Map(),
      inFlight: new Set(),
    }));
    this.#laggard = { site: this.#pick(this.#sites), number: Math.floor(this.#random() * LOGS) };
  }

  run(): RunResult {
    for (let client = 0; client < CLIENTS; client += 1)
      this.#later(() => this.#runClient(client % SITES, OPERATIONS_PER_CLIENT));
    this.#planFaults();
    let idle = 0;
    for (; this.#step < MAX_STEPS && idle <= IDLE_ROUNDS; this.#step += 1) {
      this.#nowMs += this.#random() * 2;
      this.#runTimers();
      if (this.#random() < 0.3) this.#act(this.#pick(this.#alive));
      if (this.#moveOne()) idle = 0;
      else idle += this.#wait() ? 0 : 1;
    }
    return { problems: this.#judge(), counts: this.#counts };
  }

  get #alive(): readonly WorldSite[] {
    return this.#sites.filter(({ isDead }) => !isDead);
  }

  #createSite(site: number): GlobalSite {
    const { parts, windowCommits } = this.#options;
    const origin = SITE_ORIGINS[site] as Origin;
    const shared = { received: this.#received[site] ?? [], finals: this.#finals, windowCommits };
    return new GlobalSite(origin, parts, shared, {
      onApplied: ({ id }) => this.#end(site, id, 'committed'),
      onClosed: (id) => this.#end(site, id, 'closed'),
      onRejected: (operation, byHold) => this.#onRejected(site, operation, byHold),
    });
  }

  /** Delivers a record or runs an event, whatever the seed says. Returns whether there was one. */
  #moveOne(): boolean {
    const behind = this.#alive.flatMap((site) =>
      this.#logs.flatMap((log, number) =>
        (site.live.positions[number] ?? 0) < log.length ? [{ site, number }] : [],
      ),
    );
    if (behind.length > 0 && (this.#events.length === 0 || this.#random() < 0.35)) {
      const { site, number } = this.#pickBehind(behind);
      const record = this.#logs[number]?.[site.live.positions[number] ?? 0];
      if (record !== undefined) site.live.deliver(number, record);
      this.#closeLost();
      return true;
    }
    if (this.#events.length === 0) return false;
    let index = 0;
    for (let tries = 0; tries < 50; tries += 1) {
      index = Math.floor(this.#random() * this.#events.length);
      if (this.#random() <= (this.#events[index]?.weight ?? 1)) break;
    }
    this.#events.splice(index, 1)[0]?.run();
    return true;
  }

  #pickBehind(behind: readonly Behind[]): Behind {
    const isLagging = ({ site, number }: Behind): boolean =>
      site === this.#laggard.site && number === this.#laggard.number;
    const picked = this.#pick(behind);
    const others = behind.filter((item) => !isLagging(item));
    const mustWait =
      isLagging(picked) && others.length > 0 && this.#random() >= this.#options.lagging;
    return mustWait ? this.#pick(others) : picked;
  }

  /**
   * Nothing is on its way: time passes until somebody does something. Returns whether a timer is to
   * come.
   */
  #wait(): boolean {
    this.#nowMs += RESEND_AFTER_MS;
    this.#runTimers();
    for (const site of this.#alive) this.#act(site);
    for (const { live } of this.#alive) live.pass();
    return this.#timers.length > 0;
  }

  #runTimers(): void {
    for (const timer of this.#timers.splice(0)) {
      if (timer.atMs <= this.#nowMs) timer.run();
      else this.#timers.push(timer);
    }
  }

  #later(run: () => void, weight = 1): void {
    this.#events.push({ run, weight });
  }

  #after(delayMs: number, run: () => void): void {
    this.#timers.push({ atMs: this.#nowMs + delayMs, run });
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  /** The record lands late, or is lost with its site, or lands twice. */
  #append(log: number, record: WorldRecord, from: WorldSite): void {
    const { epoch } = from;
    const land = (): void => {
      if (from.isDead && this.#random() < 0.5) return;
      if (from.epoch !== epoch && this.#random() < 0.3) return;
      if (this.#progress.halted.has(log)) return this.#after(RESEND_AFTER_MS, land);
      // What a log has is plain data.
      this.#logs[log]?.push(structuredClone(record));
    };
    const isSlow = this.#random() < this.#options.late;
    this.#later(land, isSlow ? 0.05 : 1);
    if (this.#random() < this.#options.copies) this.#later(land, 0.05);
  }

  #act(site: WorldSite): void {
    const { live } = site;
    const index = this.#sites.indexOf(site);
    const reachable = this.#logs.map(
      (_, log) => !this.#progress.halted.has(log) && this.#random() < 0.95,
    );
    const progress: SiteProgress = {
      nowMs: this.#nowMs,
      getStamp: (origin) => live.stable[origin] ?? 0,
      getCoverage: (snapshot) => live.getCoverage(snapshot),
      isDurable: (snapshot) => this.#isDurable(site, snapshot[live.origin] ?? 0),
      isApplied: (log, stamp) => live.isApplied(log, stamp),
      isLeader: (log) => log % SITES === index,
      isReachable: (log) => reachable[log] === true,
    };
    const proposals = live.coordinator.act(progress);
    for (const { partition, record } of proposals) {
      this.#count(record.kind);
      this.#progress.onProposed(
        record,
        this.#options.windowCommits < LARGE_WINDOW ? NONE : live.refused,
      );
      this.#append(partition, record, site);
    }
    this.#progress.findOverlooked(live.coordinator, progress);
  }

  #isDurable(site: WorldSite, stamp: number): boolean {
    if (!this.#options.parts.waitsForDurable) return true;
    const { origin } = site.live;
    return this.#alive.some(
      (other) =>
        other !== site && (other.live.received[origin]?.at(-1)?.vector[origin] ?? 0) >= stamp,
    );
  }

  // Clients

  #runClient(at: number, left: number): void {
    if (left === 0) return;
    const site = this.#sites[at] as WorldSite;
    const next = (): void => this.#later(() => this.#runClient(at, left - 1), 0.4);
    if (site.isDead) return this.#later(() => this.#runClient(this.#pickAlive(), left));
    const kind = this.#random();
    if (kind < 0.1) return this.#later(() => this.#runClient(this.#pickAlive(), left - 1));
    if (kind < 0.4) {
      this.#writeBlue(site);
      return next();
    }
    const operation: ClientOperation = {
      id: `c${this.#operations.size + 1}/1`,
      home: Math.floor(this.#random() * LOGS),
      spread: this.#random() < this.#options.globals ? 0.6 : 0,
      begunAt: this.#step,
      attempts: 0,
      held: 0,
    };
    this.#operations.set(operation.id, operation);
    this.#submit(operation, at, next);
  }

  #pickAlive(): number {
    return this.#sites.indexOf(this.#pick(this.#alive));
  }

  /** A client waits at a site. If it waits for long, it sends the operation to another site. */
  #submit(operation: ClientOperation, at: number, next: () => void, retries = 0): void {
    const site = this.#sites[at] as WorldSite;
    const { epoch } = site;
    const onEnd = (how: 'committed' | 'closed'): void => {
      if (operation.endedAt !== undefined) return;
      operation.endedAt = this.#step;
      operation.how = how;
      this.#count(how);
      next();
    };
    site.waiting.set(operation.id, onEnd);
    this.#execute(operation, at);
    const watch = (): void => {
      if (operation.endedAt !== undefined) return;
      const isGone = site.isDead || site.epoch !== epoch;
      if (isGone || (retries < 2 && this.#random() < 0.05))
        return this.#submit(operation, this.#pickAlive(), next, retries + 1);
      this.#after(RESEND_AFTER_MS, watch);
    };
    this.#after(RESEND_AFTER_MS, watch);
  }

  #end(at: number, id: string, how: 'committed' | 'closed'): void {
    const site = this.#sites[at];
    site?.inFlight.delete(id);
    const onEnd = site?.waiting.get(id);
    site?.waiting.delete(id);
    // The answer takes a while, as the client's next operation does.
    onEnd?.(how);
  }

  #writeBlue(site: WorldSite): void {
    const { live } = site;
    const { origin } = live;
    if (!isReady(live)) return;
    const vector = [...live.stable];
    vector[origin] = getMaxEntry(live.stable) + 1;
    const operation = { site: origin, vector };
    live.receive(operation);
    for (const other of this.#sites)
      if (other !== site) this.#later(() => this.#passBlue(site, other), this.#options.blueSpeed);
  }

  /** Sends the next blue operation of one site to another one. A lost site sends a prefix. */
  #passBlue(from: WorldSite, to: WorldSite): void {
    const { origin } = from.live;
    const own = from.live.received[origin] ?? [];
    const next = own[to.live.received[origin]?.length ?? 0];
    if (to.isDead || next === undefined || from.isDead || this.#finals[origin] !== undefined)
      return;
    to.live.receive(next);
  }

  // Executions

  #execute(operation: ClientOperation, at: number): void {
    const site = this.#sites[at] as WorldSite;
    const { id } = operation;
    const { live, inFlight } = site;
    if (site.isDead) return;
    if (!isReady(live))
      return this.#after(RESEND_AFTER_MS / 10, () => this.#execute(operation, at));
    const rows = this.#drawRows(operation);
    const outcome = live.certifiers[rows.home]?.outcomes.get(id);
    if (outcome !== undefined) {
      const how = outcome === 'conflict' ? 'closed' : 'committed';
      const isShown = [...live.executions].some((name) => name.endsWith(` ${id}`));
      if (how === 'closed' || isShown) this.#end(at, id, how);
      return;
    }
    if (inFlight.has(id)) return;
    inFlight.add(id);
    operation.attempts += 1;
    const { epoch } = site;
    const record = this.#createRecord(operation, rows, site);
    const seen = new Map(rows.reads.map((key) => [key, live.writers.get(key)?.at(-1)]));
    this.#executions.set(getExecutionName(record), { operation: record, seen });
    if (getOthers(rows).length > 0) {
      this.#count('global');
      live.coordinator.begin(record as GlobalOperation, operation.attempts - 1);
      return;
    }
    const propose = (): void => {
      if (site.isDead || site.epoch !== epoch) return;
      if (this.#isDurable(site, record.snapshot[live.origin] ?? 0))
        this.#append(rows.home, record, site);
      else this.#later(propose, 0.3);
    };
    propose();
  }

  /** Each run may choose other rows. Only the home is fixed. */
  #drawRows({ home, spread }: ClientOperation): Rows {
    const logs = Array.from({ length: LOGS }, (_, log) => log).filter(
      (log) => log === home || this.#random() < spread,
    );
    const row = (log: number): string => toKey(log, Math.floor(this.#random() * ROWS));
    const reads: string[] = [];
    const writes: string[] = [];
    for (const log of logs) {
      const use = this.#random();
      const isHome = log === home;
      if (isHome && logs.length > 1 && use < 0.2) continue;
      if (use < 0.8) reads.push(row(log));
      if (use > 0.4) writes.push(this.#random() < 0.5 ? (reads.at(-1) ?? row(log)) : row(log));
    }
    const own = this.#options.parts.fixesHome ? home : Math.floor(this.#random() * LOGS);
    return {
      home: own,
      reads,
      writes: writes.filter((key, place) => writes.indexOf(key) === place),
    };
  }

  #createRecord(operation: ClientOperation, rows: Rows, { live, epoch }: WorldSite): RedOperation {
    const snapshot = [...live.stable];
    const others = getOthers(rows);
    return {
      kind: 'operation',
      id: operation.id,
      site: live.origin,
      attempt: operation.attempts,
      epoch,
      snapshot,
      operation: 'operation',
      reads: rows.reads.map(toName),
      clock: getMaxEntry(snapshot) + 1,
      effects: rows.writes.map(toEffect),
      reply: { value: null },
      ...(rows.home > 0 && { partition: rows.home }),
      ...(others.length > 0 && { others }),
    } as RedOperation;
  }

  #onRejected(at: number, record: RedOperation, byHold: boolean): void {
    const site = this.#sites[at] as WorldSite;
    const operation = this.#operations.get(record.id);
    if (operation === undefined || record.site !== site.live.origin || record.epoch !== site.epoch)
      return;
    if (site.isDead || !site.inFlight.delete(record.id)) return;
    this.#count(byHold ? 'held' : 'conflict');
    if (byHold) operation.held += 1;
    const counted = operation.attempts - Math.min(operation.held, MAX_HELD);
    if (counted >= MAX_ATTEMPTS) {
      this.#append(
        operation.home,
        {
          kind: 'close',
          id: record.id,
          site: site.live.origin,
          failure: { code: 'CONFLICT', message: '' },
        },
        site,
      );
      return;
    }
    const { epoch } = site;
    this.#after(getRetryDelayMs(operation.attempts, RESEND_AFTER_MS, this.#random()), () => {
      if (site.epoch === epoch && operation.endedAt === undefined) this.#execute(operation, at);
    });
  }

  // Faults

  #planFaults(): void {
    if (this.#options.haltsLogs)
      for (let count = 0; count < 3; count += 1)
        this.#soon(200, () => this.#halt(Math.floor(this.#random() * LOGS)));
    if (this.#options.losesSite) return this.#soon(150, () => this.#loseSite());
    for (let count = 0; count < 3; count += 1)
      this.#soon(200, () => this.#restart(this.#pick(this.#sites)));
    for (let count = 0; count < 4; count += 1)
      this.#soon(200, () => {
        const site = this.#pick(this.#sites);
        site.saved = site.live.save();
      });
  }

  #soon(maxEvents: number, run: () => void): void {
    let left = 5 + Math.floor(this.#random() * maxEvents);
    const tick = (): void => {
      left -= 1;
      if (left > 0) this.#later(tick, 0.5);
      else run();
    };
    this.#later(tick);
  }

  #halt(log: number): void {
    this.#count('halt');
    this.#progress.halted.add(log);
    this.#after(3 * RESEND_AFTER_MS, () => this.#progress.halted.delete(log));
  }

  #restart(site: WorldSite): void {
    this.#count('restart');
    site.epoch += 1;
    site.waiting.clear();
    site.inFlight.clear();
    site.live = this.#createSite(this.#sites.indexOf(site));
    if (site.saved !== undefined) site.live.load(site.saved);
    site.live.pass();
  }

  #loseSite(): void {
    this.#lost = Math.floor(this.#random() * SITES);
    const site = this.#sites[this.#lost] as WorldSite;
    site.isDead = true;
    site.epoch += 1;
    // A member change closes it in each log, once operators have noticed.
    this.#after(RESEND_AFTER_MS * (1 + 10 * this.#random()), () => {
      for (const log of this.#logs) log.push({ kind: 'fence', site: site.live.origin });
      this.#fenced = true;
    });
  }

  /**
   * All sites that remain have delivered the fences: the stream of the lost site ends with what one
   * of them has.
   */
  #closeLost(): void {
    if (this.#lost === undefined || !this.#fenced) return;
    const { origin } = (this.#sites[this.#lost] as WorldSite).live;
    if (this.#finals[origin] !== undefined) return;
    const hasFence = ({ live }: WorldSite): boolean =>
      this.#logs.every(
        (log, number) => live.positions[number]! > log.findIndex(({ kind }) => kind === 'fence'),
      );
    if (!this.#alive.every(hasFence)) return;
    const streams = this.#alive.map(({ live }) => live.received[origin] ?? []);
    const longest = streams.reduce((a, b) => (b.length > a.length ? b : a));
    for (const stream of streams) stream.push(...longest.slice(stream.length));
    this.#finals[origin] = longest.at(-1)?.vector[origin] ?? 0;
    for (const { live } of this.#alive) live.onFinal();
  }

  // Judgement

  #judge(): string[] {
    const problems = [...this.#progress.problems];
    if (this.#step >= MAX_STEPS) problems.push('no end');
    const sites = this.#alive.map(({ live }) => live);
    for (const site of sites) {
      if (!site.isIdle) problems.push('a gate waits for ever');
      if (site.standing.length > 0) problems.push('rows are held for ever');
    }
    const [first, ...others] = sites as [GlobalSite, ...GlobalSite[]];
    for (const other of others) problems.push(...compareSites(first, other));
    if (problems.length > 0) return problems;
    return [...this.#judgeOperations(first), ...this.#judgeOrder(first)];
  }

  #judgeOperations(site: GlobalSite): string[] {
    const problems: string[] = [];
    for (const { id, how, endedAt } of this.#operations.values()) {
      const done = [...site.executions].filter((name) => name.endsWith(` ${id}`));
      if (done.length > 1) problems.push('executed twice');
      if (how === 'committed' && done.length === 0) problems.push('acknowledged and lost');
      if (how === 'closed' && done.length > 0) problems.push('CONFLICT, and done');
      if (endedAt === undefined && done.length === 0 && this.#lost === undefined)
        problems.push('no answer');
      for (const name of done) problems.push(...this.#judgeWhole(site, name));
    }
    return problems;
  }

  /** A global is in all its rows, and has nothing that depends on lost operations. */
  #judgeWhole(site: GlobalSite, name: string): string[] {
    const { operation } = this.#executions.get(name) as Execution;
    const problems: string[] = [];
    if (!operation.effects.every(({ key }) => site.writers.get(key)?.includes(name) === true))
      problems.push('applied in parts');
    // A local of a lost site may have been appended before; a global waits for what it depends on.
    if ('others' in operation && site.getCoverage(operation.snapshot) === 'never')
      problems.push('a cause is lost');
    return problems;
  }

  #judgeOrder(site: GlobalSite): string[] {
    const operations = [...site.executions].map((name): StrictOperation => {
      const { operation, seen } = this.#executions.get(name) as Execution;
      const { begunAt, endedAt } = this.#operations.get(operation.id) as ClientOperation;
      return { name, begunAt, endedAt, seen };
    });
    const cycle = findStrictCycle(operations, site.writers);
    return cycle === undefined ? [] : ['not strictly serializable'];
  }
}

/** Whether a site shows all that it has written, so that it may go on. */
const isReady = ({ origin, received, stable }: GlobalSite): boolean =>
  (received[origin]?.at(-1)?.vector[origin] ?? 0) <= (stable[origin] ?? 0);

function compareSites(a: GlobalSite, b: GlobalSite): string[] {
  for (const key of new Set([...a.writers.keys(), ...b.writers.keys()]))
    if (a.writers.get(key)?.join() !== b.writers.get(key)?.join())
      return ['sites differ in the order of writers'];
  if ([...a.executions].toSorted().join() !== [...b.executions].toSorted().join())
    return ['sites differ'];
  return a.stable.join() === b.stable.join() ? [] : ['sites differ in what they show'];
}
