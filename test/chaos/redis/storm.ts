/**
 * A storm: rounds of faults on real Redis Clusters at two sites while clients read and write, and
 * an exact check of each round's history.
 */
import { appendFileSync } from 'node:fs';
import { useRedis } from '../../../engines/redis/engine.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { Counter } from '../../histories/counter.ts';
import { openCausalDeployment, openControl, type Deployment } from './deployments.ts';
import { setClockApart } from './faults.ts';
import { judge } from './judge.ts';
import { Load } from './load.ts';
import type { StormOptions } from './options.ts';
import { StormRound } from './round.ts';

export interface StormReport {
  readonly seed: number;
  readonly server: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly reads: number;
  readonly writes: number;
  /** Operations by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  readonly alarms: Readonly<Record<string, number>>;
  /** Acknowledged writes that Redis has lost, as the alarms say. */
  readonly lostWrites: number;
  /** Values that could not be judged, since their writes got no answer. */
  readonly unplacedReads: number;
  /** Faults by what is broken. */
  readonly found: Readonly<Record<string, number>>;
  /** One sentence for each of the first faults. */
  readonly faults: readonly string[];
}

const KEYS = 24;
const CLIENTS_PER_GATEWAY = 8;
const MAX_READS_PER_ROUND = 20_000;
const PROGRESS_MS = 5_000;

export async function runStorm(
  options: StormOptions,
  progress: (line: string) => void,
): Promise<StormReport> {
  const { server, wan, seed } = options;
  const used = await useRedis({ server, wan, hasFakeClocks: server === 'valkey' }, progress);
  try {
    const { nodes } = used.sites.state.layout;
    const random = new Random(seed);
    if (server === 'valkey') for (const node of nodes) setClockApart(used.sites, node, random);
    return await new Storm(options, used.sites, progress).run();
  } finally {
    await used.stop();
  }
}

class Storm {
  readonly #options: StormOptions;
  readonly #sites: RedisSites;
  readonly #progress: (line: string) => void;
  readonly #counts = {
    outcomes: new Counter(),
    injected: new Counter(),
    alarms: new Counter(),
    found: new Counter(),
  };
  readonly #faults: string[] = [];
  #reads = 0;
  #writes = 0;
  #lostWrites = 0;
  #unplacedReads = 0;

  constructor(options: StormOptions, sites: RedisSites, progress: (line: string) => void) {
    [this.#options, this.#sites, this.#progress] = [options, sites, progress];
  }

  async run(): Promise<StormReport> {
    const { seed, server, reads, isControl } = this.#options;
    const fromMs = performance.now();
    const random = new Random(seed);
    const open = isControl ? openControl : openCausalDeployment;
    const deployment = await open(this.#sites, {
      ...this.#options,
      random,
      progress: this.#progress,
    });
    let rounds = 0;
    try {
      while (this.#reads < reads && this.#faults.length === 0) {
        await this.#playRound(deployment, rounds);
        rounds += 1;
      }
    } finally {
      await deployment.close();
    }
    for (const { code } of deployment.alarms) this.#counts.alarms.add(code);
    return {
      seed,
      server,
      rounds,
      seconds: Math.round((performance.now() - fromMs) / 1000),
      reads: this.#reads,
      writes: this.#writes,
      outcomes: this.#counts.outcomes.counts,
      injected: this.#counts.injected.counts,
      alarms: this.#counts.alarms.counts,
      lostWrites: this.#lostWrites,
      unplacedReads: this.#unplacedReads,
      found: this.#counts.found.counts,
      faults: this.#faults,
    };
  }

  async #playRound(deployment: Deployment, number: number): Promise<void> {
    const { seed, reads, isControl, faults } = this.#options;
    const { store, alarms } = deployment;
    const random = new Random(seed + number);
    const keys = Array.from({ length: KEYS }, (_, n) => `${number}:k${n}`);
    const clients = { clientsPerGateway: CLIENTS_PER_GATEWAY, isPlain: isControl };
    const load = new Load({ store, keys, round: number, random, ...clients });
    const minReads = Math.min(reads - this.#reads, MAX_READS_PER_ROUND);
    const [sites, progress] = [this.#sites, this.#progress];
    const round = new StormRound({ sites, deployment, load, random, faults, minReads, progress });
    const alarmsBefore = alarms.length;

    const showing = setInterval(() => this.#showProgress(number, load, round), PROGRESS_MS);
    await round.play().finally(() => clearInterval(showing));
    const found = this.#judge(deployment, load, round);
    const unexpected = alarms
      .slice(alarmsBefore)
      .filter((alarm) => !this.#isExpected(alarm, round));
    found.push(...round.faults, ...unexpected.map(({ message }) => `alarm: ${message}`));
    this.#faults.push(...found.map((fault) => `round ${seed + number}: ${fault}`));
    this.#showProgress(number, load, round);
    this.#write(number, load, round, deployment);

    this.#reads += load.reads;
    this.#writes += load.writes;
    this.#counts.outcomes.addAll(load.outcomes.counts);
    this.#counts.injected.addAll(round.injected.counts);
  }

  #judge(
    { lossAlarms, partitionCount }: Deployment,
    { events }: Load,
    { losses }: StormRound,
  ): string[] {
    const findPartitionOf = (key: string): number => findPartition(key, partitionCount);
    const judged = judge({ events, losses, alarms: lossAlarms, findPartition: findPartitionOf });
    this.#lostWrites += judged.lostWrites;
    this.#unplacedReads += judged.unplacedReads;
    this.#counts.found.addAll(judged.counts);
    return [...judged.faults];
  }

  #write(
    number: number,
    { events }: Load,
    { losses, injections }: StormRound,
    { lossAlarms }: Deployment,
  ): void {
    const { history } = this.#options;
    if (history === undefined) return;
    const possibleLosses = losses.map((loss) => ({
      kind: 'loss',
      ...loss,
      partitions: [...loss.partitions],
    }));
    const alarms = lossAlarms.map((alarm) => ({ kind: 'lost-writes', ...alarm }));
    const lines = [
      { kind: 'round', number },
      ...injections,
      ...possibleLosses,
      ...alarms,
      ...events,
    ];
    appendFileSync(history, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  /** An alarm is a fault if nothing was done that it could be about. */
  #isExpected({ code }: { readonly code: string }, { losses, injected }: StormRound): boolean {
    if (code === 'lost-writes' || code === 'deployment') return losses.length > 0;
    if (code === 'clock') return 'wrong-clock' in injected.counts;
    return code !== 'causal-history' && code !== 'dropped-entries';
  }

  #showProgress(number: number, load: Load, { injected }: StormRound): void {
    const { seed, reads } = this.#options;
    const [readCount, writeCount] = [this.#reads + load.reads, this.#writes + load.writes];
    const faultCount = Object.keys(injected.counts).length;
    this.#progress(
      `round ${seed + number}: ${readCount} of ${reads} reads, ${writeCount} writes, ${faultCount} faults injected`,
    );
  }
}
