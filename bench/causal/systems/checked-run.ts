/**
 * Runs a system with few keys and delays that vary, and checks each read with the checker of the
 * causal store.
 */
import { Random } from '../../../src/server/service/collections/random.ts';
import {
  FrontierChecker,
  SessionFrontier,
} from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { KEEP_READ_IDS_US, type CcloPartition } from './cclo-partition.ts';
import { CcloSystem } from './cclo-system.ts';
import type { SystemName } from './closed-loop.ts';
import { ContrarianSystem } from './contrarian-system.ts';
import { QueueingNetwork } from './queueing-network.ts';
import { NOMINAL_TIMES } from './service-times.ts';
import type { StoreClient, System } from './store-client.ts';
import { KeyNames } from './workload.ts';

export interface CheckedRunOptions {
  readonly system: SystemName;
  readonly siteCount: number;
  readonly seed: number;
  /** Default: 2,000. */
  readonly operations?: number;
  /** Mean delay of a message within a site. Default: 1 */
  readonly delayMs?: number;
  /** Creates the partitions of CC-LO. Tests replace them by partitions with injected faults. */
  readonly Partition?: typeof CcloPartition;
}

export interface CheckedRunResult {
  readonly reads: number;
  /** The findings of the checker in reads that took less than the time that ids are kept. */
  readonly faults: readonly string[];
  /** The findings in longer reads, whose ids CC-LO has forgotten. */
  readonly lateFaults: readonly string[];
}

const PARTITIONS = 4;
const KEYS_OF_PARTITION = 2;
const CLIENTS_PER_SITE = 6;
const REMOTE_MEAN_MS = 10;
const MAINTAIN_EVERY_MS = 5;
const CLOCK_OFFSET_US = 2_000;
const STARTED_AT = 1_800_000_000_000_000;
const MAX_KEEP_MS = KEEP_READ_IDS_US / 1_000;

export function runChecked(options: CheckedRunOptions): CheckedRunResult {
  return new CheckedRun(options).run();
}

class CheckedRun {
  readonly #options: Required<Pick<CheckedRunOptions, 'operations' | 'delayMs'>> &
    CheckedRunOptions;
  readonly #timeline = new Timeline();
  readonly #random: Random;
  readonly #checker = new FrontierChecker({
    isLost: () => false,
    mayBeForgotten: () => false,
    mayBeRepeated: () => false,
  });
  readonly #keys: readonly string[];
  readonly #faults: string[] = [];
  readonly #lateFaults: string[] = [];
  #reads = 0;
  #open: number;

  constructor(options: CheckedRunOptions) {
    this.#options = { operations: 2_000, delayMs: 1, ...options };
    this.#random = new Random(options.seed);
    this.#open = this.#options.operations;
    const names = new KeyNames(PARTITIONS);
    this.#keys = Array.from({ length: PARTITIONS * KEYS_OF_PARTITION }, (_, at) =>
      names.nameKey(at % PARTITIONS, Math.floor(at / PARTITIONS)),
    );
  }

  run(): CheckedRunResult {
    const { siteCount } = this.#options;
    const system = this.#createSystem();
    const maintain = (): void => {
      system.maintain();
      if (this.#open > 0) this.#timeline.schedule(MAINTAIN_EVERY_MS, maintain);
    };
    maintain();
    for (let site = 0; site < siteCount; site += 1)
      for (let client = 0; client < CLIENTS_PER_SITE; client += 1)
        this.#next({
          store: system.createClient(site),
          session: new SessionFrontier(),
          name: `${site}.${client}`,
        });
    this.#timeline.run(Infinity, () => this.#open <= 0);
    return { reads: this.#reads, faults: this.#faults, lateFaults: this.#lateFaults };
  }

  #createSystem(): System {
    const { system, siteCount, delayMs, Partition } = this.#options;
    const random = this.#random;
    const network = new QueueingNetwork({
      timeline: this.#timeline,
      times: NOMINAL_TIMES,
      nameExecution: (kind) => kind,
      startedAt: STARTED_AT,
      drawDelayMs: (from, to) =>
        random.exponential(from.site === to.site ? delayMs : REMOTE_MEAN_MS),
    });
    const shared = { network, siteCount, partitionCount: PARTITIONS };
    if (system === 'cc-lo') return new CcloSystem(shared, Partition);
    const offsets = Array.from({ length: siteCount * PARTITIONS }, () =>
      random.between(-CLOCK_OFFSET_US, CLOCK_OFFSET_US),
    );
    return new ContrarianSystem({
      ...shared,
      source: system === 'contrarian' ? 'coordinator' : 'gateway',
      retry: (run) => this.#timeline.schedule(1, run),
      getClockOffset: ({ site, partition }) => offsets[site * PARTITIONS + partition] as number,
    });
  }

  #next(client: CheckedClient): void {
    if (this.#open <= 0) return;
    this.#open -= 1;
    if (this.#random.chance(0.4)) this.#put(client);
    else this.#read(client);
  }

  #put(client: CheckedClient): void {
    const { store, session, name } = client;
    const key = this.#keys[this.#random.between(0, this.#keys.length - 1)] as string;
    const id = `${name}.${this.#open}`;
    this.#checker.beginWrite(id, key, session);
    store.put(key, id, (place) => {
      const violation = this.#checker.endWrite(id, place, session);
      if (violation !== undefined) this.#faults.push(violation.checker);
      this.#next(client);
    });
  }

  #read(client: CheckedClient): void {
    const { store, session } = client;
    const count = this.#random.between(2, this.#keys.length);
    const chosen = new Set(
      Array.from({ length: count }, () => this.#random.between(0, this.#keys.length - 1)),
    );
    const keys = [...chosen].map((at) => this.#keys[at] as string);
    const startMs = this.#timeline.nowMs;
    store.read(keys, (versions) => {
      this.#reads += 1;
      const violation = this.#checker.checkRead(keys, versions, { session });
      const isLate = this.#timeline.nowMs - startMs > MAX_KEEP_MS;
      if (violation !== undefined)
        (isLate ? this.#lateFaults : this.#faults).push(violation.checker);
      this.#next(client);
    });
  }
}

interface CheckedClient {
  readonly store: StoreClient;
  readonly session: SessionFrontier;
  readonly name: string;
}
