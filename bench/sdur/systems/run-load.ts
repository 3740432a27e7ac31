/**
 * Runs one system under a constant load in virtual time. Transactions begin at random moments,
 * whether earlier ones have ended or not. A run depends on its options alone.
 */
import { Random } from '../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { getDelayMs, LAYOUTS, type Wan } from './layouts.ts';
import { PaperDeployment } from './paper-deployment.ts';
import { ProductDeployment, type ProductCounts } from './product-deployment.ts';
import type { System } from './system.ts';
import { PARTITIONS, type Workload } from './workloads.ts';

export type SystemName = 'machine' | 'product';

export interface LoadOptions {
  readonly system: SystemName;
  readonly wan: Wan;
  readonly workload: Workload;
  /** The reordering threshold R of the machine. */
  readonly threshold: number;
  /** The delay Δ of the machine, in milliseconds. */
  readonly delayMs: number;
  readonly seed: number;
  /**
   * How long the load has been there when transactions begin to count, and for how long they count.
   */
  readonly warmUpMs: number;
  readonly durationMs: number;
}

export interface LoadResult {
  /** Transactions that begin in a second, in both partitions together. */
  readonly perSecond: number;
  /** The share of its time that the busiest server works. */
  readonly utilization: number;
  /**
   * By kind: the latencies of transactions that have committed, in milliseconds, in ascending
   * order.
   */
  readonly latenciesMs: ReadonlyMap<string, readonly number[]>;
  /** The share of transactions that have aborted. */
  readonly aborted: number;
  /**
   * How often the product has executed a transaction. 1 in the machine, which does not repeat any.
   */
  readonly runsPerOperation: number;
  /** How long the rows of each global were held in the other partition. Empty in the machine. */
  readonly heldMs: readonly number[];
}

/** The share of its own peak at which each system runs, as in the paper. */
const LOAD = 0.75;
/**
 * How long a server works for one transaction of its log. The paper has measured throughput
 * instead, and shows some thousands a second for each partition.
 */
const SERVICE_MS = 0.2;
/** The sites of the product greet each other before the load begins. */
const START_MS = 2_000;
/** The load goes on while measured transactions are in flight. */
const MAX_DRAIN_MS = 10_000;

/**
 * Returns how many updates a second the servers have time for. In the machine a server works for
 * its partition alone: once for a local, and for a global once in each. In the product each site
 * works for all partitions: once for a local, and three times for a global, for its hold, record
 * and release. Reads are no work.
 */
function computePeak({
  system,
  workload: { globalShare },
}: Pick<LoadOptions, 'system' | 'workload'>): number {
  const perSecond = 1_000 / SERVICE_MS;
  return system === 'machine'
    ? (PARTITIONS * perSecond) / (1 + globalShare)
    : perSecond / (1 + 2 * globalShare);
}

export function runLoad(options: LoadOptions): LoadResult {
  return new LoadRun(options).run();
}

class LoadRun {
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #timeline = new Timeline();
  readonly #system: System;
  readonly #product: ProductDeployment | undefined;
  readonly #latenciesMs = new Map<string, number[]>();
  #begun = 0;
  #open = 0;
  #aborted = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const timeline = this.#timeline;
    const shared = { timeline, layout: LAYOUTS[options.wan], getDelayMs, serviceMs: SERVICE_MS };
    this.#product = options.system === 'product' ? new ProductDeployment(shared) : undefined;
    const { threshold, delayMs } = options;
    this.#system = this.#product ?? new PaperDeployment({ ...shared, threshold, delayMs });
  }

  run(): LoadResult {
    const { durationMs, workload } = this.#options;
    const perSecond = (LOAD * computePeak(this.#options)) / workload.updateShare;
    const timeline = this.#timeline;
    timeline.schedule(START_MS, () => this.#arrive((PARTITIONS * 1_000) / perSecond));
    timeline.run(this.#measuredFromMs);
    const before = this.#count();
    timeline.run(this.#measuredUntilMs);
    const after = this.#count();
    timeline.run(this.#measuredUntilMs + MAX_DRAIN_MS, () => this.#open === 0);
    if (this.#open > 0) throw new Error(`${this.#open} transactions have not ended`);
    const worked = after.busyMs.map((ms, server) => ms - (before.busyMs[server] ?? 0));
    return {
      perSecond,
      utilization: Math.max(...worked) / durationMs,
      latenciesMs: new Map([...this.#latenciesMs].map(([kind, values]) => [kind, sort(values)])),
      aborted: this.#aborted / this.#begun,
      runsPerOperation:
        (after.runs - before.runs) / Math.max(1, after.firstRuns - before.firstRuns),
      heldMs: sort(after.heldMs.slice(before.heldMs.length)),
    };
  }

  /**
   * Takes the counts of this moment. The machine executes each transaction once, and holds no rows.
   */
  #count(): { readonly busyMs: readonly number[] } & Pick<
    ProductCounts,
    'runs' | 'firstRuns' | 'heldMs'
  > {
    const { busyMs } = this.#system;
    if (this.#product === undefined)
      return { busyMs, runs: this.#begun, firstRuns: this.#begun, heldMs: [] };
    const { runs, firstRuns, heldMs } = this.#product.counts;
    return { busyMs, runs, firstRuns, heldMs: [...heldMs] };
  }

  get #measuredFromMs(): number {
    return START_MS + this.#options.warmUpMs;
  }

  get #measuredUntilMs(): number {
    return this.#measuredFromMs + this.#options.durationMs;
  }

  /** Begins transactions in each partition, with this mean time between two. */
  #arrive(meanMs: number): void {
    for (const home of LAYOUTS[this.#options.wan].keys()) {
      const next = (): void =>
        this.#timeline.schedule(this.#random.exponential(meanMs), () => {
          this.#begin(home);
          next();
        });
      next();
    }
  }

  #begin(home: number): void {
    const beganMs = this.#timeline.nowMs;
    const isMeasured = beganMs >= this.#measuredFromMs && beganMs < this.#measuredUntilMs;
    if (isMeasured) {
      this.#begun += 1;
      this.#open += 1;
    }
    const request = this.#options.workload.draw(this.#random, home);
    this.#system.begin(request, (commits) => {
      if (!isMeasured) return;
      this.#open -= 1;
      if (commits) this.#noteLatency(request.kinds, this.#timeline.nowMs - beganMs);
      else this.#aborted += 1;
    });
  }

  #noteLatency(kinds: readonly string[], tookMs: number): void {
    for (const kind of kinds) {
      const values = this.#latenciesMs.get(kind);
      if (values === undefined) this.#latenciesMs.set(kind, [tookMs]);
      else values.push(tookMs);
    }
  }
}

function sort(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}
