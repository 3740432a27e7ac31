/** Clients in closed loops: each does one operation after the other, without a pause. */
import { Random } from '../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { CcloSystem } from './cclo-system.ts';
import { ContrarianSystem } from './contrarian-system.ts';
import {
  PURPOSES,
  QueueingNetwork,
  type Account,
  type Execution,
  type Purpose,
} from './queueing-network.ts';
import type { ServiceTimes } from './service-times.ts';
import type { ReadersCheck, StoreClient, System, SystemOptions } from './store-client.ts';
import { createOperations, type RankChooser, type Workload } from './workload.ts';

export const SYSTEMS = ['contrarian', 'contrarian-one-round', 'cc-lo'] as const;
export type SystemName = (typeof SYSTEMS)[number];

export const PARTITIONS = 32;
/** The one-way delay between sites: about that between Virginia and Oregon. */
export const REMOTE_DELAY_MS = 35;
export const LOCAL_DELAY_MS = 0.05;
/** The interval of the paper's stabilization, which is also that of pulls here. */
const MAINTAIN_EVERY_MS = 5;
const RETRY_MS = 1;
const CLOCK_OFFSET_US = 500;
/** An arbitrary start time. */
const STARTED_AT = 1_800_000_000_000_000;

export interface LoopOptions {
  readonly system: SystemName;
  readonly siteCount: number;
  readonly clientsPerSite: number;
  readonly workload: Workload;
  readonly chooseRank: RankChooser;
  readonly times: ServiceTimes;
  readonly seed: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly partitionCount?: number;
  readonly onExecution?: (execution: Execution) => void;
}

export interface Latency {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

export interface LoopResult {
  /** Operations a second, all sites together. */
  readonly perSecond: number;
  readonly reads: number;
  readonly puts: number;
  readonly read: Latency;
  readonly put: Latency;
  /**
   * The work of servers for one operation of each purpose. Background work is divided by all
   * operations.
   */
  readonly costs: Readonly<Record<Purpose, Account>>;
  /** The busiest server's share of its time. */
  readonly utilization: number;
  /** The mean counts of a readers check. */
  readonly check: ReadersCheck;
  readonly blockedReads: number;
  readonly longReads: number;
}

/**
 * Returns the name of a kind of message with its system, because both systems have messages of the
 * same name.
 */
export function nameExecution(system: SystemName, kind: string): string {
  return `${system === 'cc-lo' ? 'cc-lo' : 'contrarian'} ${kind}`;
}

/** Runs a closed loop, and returns what happened after the warm-up. */
export function runClosedLoop(options: LoopOptions): LoopResult {
  return new ClosedLoop(options).run();
}

class ClosedLoop {
  readonly #options: LoopOptions;
  readonly #timeline = new Timeline();
  readonly #random: Random;
  readonly #network: QueueingNetwork;
  readonly #system: System;
  readonly #readMs: number[] = [];
  readonly #putMs: number[] = [];
  readonly #check = { all: 0, distinct: 0, partitions: 0 };
  #checks = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const { times, onExecution } = options;
    this.#network = new QueueingNetwork({
      timeline: this.#timeline,
      times,
      nameExecution: (kind) => nameExecution(options.system, kind),
      startedAt: STARTED_AT,
      drawDelayMs: (from, to) => (from.site === to.site ? LOCAL_DELAY_MS : REMOTE_DELAY_MS),
      onExecution: onExecution && ((execution) => this.#isMeasuring && onExecution(execution)),
    });
    this.#system = this.#createSystem();
  }

  run(): LoopResult {
    const { warmUpMs, durationMs, siteCount, clientsPerSite } = this.#options;
    this.#maintain();
    const drawOperation = createOperations(this.#options.workload, {
      partitionCount: this.#partitionCount,
      chooseRank: this.#options.chooseRank,
    });
    for (let site = 0; site < siteCount; site += 1)
      for (let client = 0; client < clientsPerSite; client += 1) {
        const random = new Random(this.#random.bits());
        const store = this.#system.createClient(site);
        // Start the clients at different times.
        this.#timeline.schedule(random.fraction(), () =>
          this.#loop(store, () => drawOperation(random)),
        );
      }
    this.#timeline.run(warmUpMs);
    const before = structuredClone(this.#network.accounts);
    const busyBefore = this.#network.longestBusyMs;
    this.#timeline.run(warmUpMs + durationMs);
    return this.#summarize(before, busyBefore);
  }

  get #partitionCount(): number {
    return this.#options.partitionCount ?? PARTITIONS;
  }

  get #isMeasuring(): boolean {
    return this.#timeline.nowMs >= this.#options.warmUpMs;
  }

  #createSystem(): System {
    const { system, siteCount, workload } = this.#options;
    const network = this.#network;
    const shared: SystemOptions = {
      network,
      siteCount,
      partitionCount: this.#partitionCount,
      initialValue: 'v'.repeat(workload.valueBytes),
      onReadersCheck: (check) => this.#noteCheck(check),
    };
    if (system === 'cc-lo') return new CcloSystem(shared);
    const offsets = new Map<string, number>();
    return new ContrarianSystem({
      ...shared,
      source: system === 'contrarian' ? 'coordinator' : 'gateway',
      retry: (run) => this.#timeline.schedule(RETRY_MS, run),
      getClockOffset: ({ site, partition }) => {
        const name = `${site}.${partition}`;
        const known = offsets.get(name) ?? this.#random.between(-CLOCK_OFFSET_US, CLOCK_OFFSET_US);
        offsets.set(name, known);
        return known;
      },
    });
  }

  #maintain(): void {
    this.#system.maintain();
    this.#timeline.schedule(MAINTAIN_EVERY_MS, () => this.#maintain());
  }

  #loop(store: StoreClient, draw: () => ReturnType<ReturnType<typeof createOperations>>): void {
    const operation = draw();
    const startMs = this.#timeline.nowMs;
    const end = (durations: number[]): void => {
      if (this.#isMeasuring) durations.push(this.#timeline.nowMs - startMs);
      this.#loop(store, draw);
    };
    if (operation.kind === 'read') store.read(operation.keys, () => end(this.#readMs));
    else
      store.put(operation.key, 'v'.repeat(this.#options.workload.valueBytes), () =>
        end(this.#putMs),
      );
  }

  #noteCheck({ all, distinct, partitions }: ReadersCheck): void {
    if (!this.#isMeasuring) return;
    this.#checks += 1;
    this.#check.all += all;
    this.#check.distinct += distinct;
    this.#check.partitions += partitions;
  }

  #summarize(before: Readonly<Record<Purpose, Account>>, busyBefore: number): LoopResult {
    const { durationMs } = this.#options;
    const [reads, puts] = [this.#readMs.length, this.#putMs.length];
    const counts = { read: reads, put: puts, background: reads + puts };
    const costs = Object.fromEntries(
      PURPOSES.map((purpose) => [
        purpose,
        divideAccount(this.#network.accounts[purpose], before[purpose], counts[purpose]),
      ]),
    ) as Record<Purpose, Account>;
    const { all, distinct, partitions } = this.#check;
    const checks = Math.max(1, this.#checks);
    return {
      perSecond: ((reads + puts) / durationMs) * 1_000,
      reads,
      puts,
      read: summarizeLatency(this.#readMs),
      put: summarizeLatency(this.#putMs),
      costs,
      utilization: (this.#network.longestBusyMs - busyBefore) / durationMs,
      check: { all: all / checks, distinct: distinct / checks, partitions: partitions / checks },
      blockedReads: this.#system.blockedReads,
      longReads: this.#readMs.filter((ms) => ms > 500).length,
    };
  }
}

function divideAccount(after: Account, before: Account, count: number): Account {
  const of = (name: keyof Account): number => (after[name] - before[name]) / Math.max(1, count);
  return {
    messages: of('messages'),
    bytes: of('bytes'),
    serviceUs: of('serviceUs'),
    messageUs: of('messageUs'),
  };
}

export function summarizeLatency(durationsMs: readonly number[]): Latency {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  const sum = sorted.reduce((total, ms) => total + ms, 0);
  return { meanMs: sum / sorted.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}
