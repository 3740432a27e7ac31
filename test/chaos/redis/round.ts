/**
 * One round of a storm: clients work while faults come one after the other; then all is healed, and
 * the sites are compared.
 */
import {
  findShard,
  findSlot,
  restartAll,
  type ShardAddress,
} from '../../../engines/redis/faults.ts';
import { REDIS_SITES } from '../../../engines/redis/layout.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { Counter } from '../../histories/counter.ts';
import { pause } from '../../histories/pause.ts';
import { CheckpointError, type Checkpoints } from './checkpoint.ts';
import type { Deployment } from './deployments.ts';
import { STORM_FAULTS, type StormFaultName } from './faults.ts';
import type { PossibleLoss, SiteIndex } from './history.ts';
import type { Load } from './load.ts';

export interface RoundOptions {
  readonly sites: RedisSites;
  readonly deployment: Deployment;
  readonly load: Load;
  readonly random: Random;
  readonly faults: readonly StormFaultName[];
  /** The round ends when the faults are over, and not before so many reads. */
  readonly minReads: number;
  readonly progress: (line: string) => void;
}

/** A fault that was injected, for the history. */
export interface Injection extends ShardAddress {
  readonly kind: 'injected';
  readonly name: StormFaultName;
  readonly beganMs: number;
  readonly endedMs: number;
}

const CHECKPOINT_MS = 60_000;
/** Answers that were on their way when Redis lost its data. */
const ANSWERS_ARRIVE_MS = 500;
const CALM_MS = 300;

export class StormRound {
  readonly losses: PossibleLoss[] = [];
  readonly injected = new Counter();
  readonly injections: Injection[] = [];
  /** What is wrong beside what the history shows. */
  readonly faults: string[] = [];
  readonly #options: RoundOptions;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  async play(): Promise<void> {
    const { load, deployment } = this.#options;
    const { checkpoints } = deployment;
    const ending = new AbortController();
    const working = load.run(ending.signal);
    try {
      if (checkpoints !== undefined) await Promise.race([this.#disturb(checkpoints), working]);
      await Promise.race([this.#untilEnoughReads(), working]);
      ending.abort();
      await working;
      if (checkpoints !== undefined) await this.#settle(checkpoints);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      this.faults.push(`liveness: ${error.message}`);
    } finally {
      ending.abort();
      await working;
    }
    this.faults.push(...load.errors.map((error) => `error: ${error}`));
  }

  /** Injects each fault once, in an order of the round's own, each at some shard. */
  async #disturb(checkpoints: Checkpoints): Promise<void> {
    const { sites, random, faults } = this.#options;
    for (const name of shuffle(faults, random)) {
      const address = {
        site: random.pick(REDIS_SITES),
        shard: random.pick(sites.shards as [number]),
      };
      const fromMs = await checkpoints.pass(CHECKPOINT_MS);
      await this.#inject(name, address, fromMs);
      await pause(CALM_MS);
    }
    await checkpoints.pass(CHECKPOINT_MS);
  }

  async #inject(name: StormFaultName, address: ShardAddress, fromMs: number): Promise<void> {
    const { sites, random, deployment, progress } = this.#options;
    const { store, partitionCount, keyOf, restartGateway } = deployment;
    const partitions = await this.#findPartitions(address);
    const site = REDIS_SITES.indexOf(address.site) as SiteIndex;
    const note = (sinceMs: number, isReported: boolean): void => {
      const toMs = performance.now() + ANSWERS_ARRIVE_MS;
      this.losses.push({ site, partitions, fromMs: sinceMs, toMs, isReported });
    };
    const noteLoss = (): void => note(fromMs, true);
    const noteFalseAnswers = (sinceMs: number): void => note(sinceMs, false);
    const restartSome = (): Promise<void> =>
      restartGateway(random.between(0, store.gateways.length - 1));
    const stage = { sites, random, partitionCount, keyOf, restartGateway: restartSome };
    const notes = { noteLoss, noteFalseAnswers };
    progress(`${name} at shard ${address.shard} of ${address.site}`);
    const beganMs = performance.now();
    await STORM_FAULTS[name].run({ ...stage, ...notes }, address);
    this.injected.add(name);
    this.injections.push({
      kind: 'injected',
      name,
      ...address,
      beganMs,
      endedMs: performance.now(),
    });
  }

  /** Returns the partitions that a shard has now: slots move. */
  async #findPartitions({ site, shard }: ShardAddress): Promise<ReadonlySet<number>> {
    const { sites, deployment } = this.#options;
    const partitions = new Set<number>();
    for (let partition = 0; partition < deployment.partitionCount; partition += 1) {
      const slot = await findSlot(sites, deployment.keyOf(partition));
      if ((await findShard(sites, site, slot)) === shard) partitions.add(partition);
    }
    return partitions;
  }

  async #untilEnoughReads(): Promise<void> {
    const { load, minReads } = this.#options;
    while (load.reads < minReads) await pause(CALM_MS);
  }

  /**
   * Waits until all is well, asks each gateway for all keys, and compares what the sites have
   * stored.
   */
  async #settle(checkpoints: Checkpoints): Promise<void> {
    const { sites, deployment } = this.#options;
    for (const site of REDIS_SITES) await restartAll(sites, site);
    await checkpoints.pass(CHECKPOINT_MS);
    const untilMs = performance.now() + CHECKPOINT_MS;
    while (!(await this.#lookAtAll(performance.now() > untilMs))) await pause(CALM_MS);
    this.faults.push(...(await deployment.compareSites()));
  }

  /** Returns whether all gateways show the same, or it is too late to wait for that. */
  async #lookAtAll(isLate: boolean): Promise<boolean> {
    const { load, deployment } = this.#options;
    const { store } = deployment;
    const { keys } = load.options;
    const results = await Promise.all(
      store.gateways.map((_, n) => store.openSession(n).read(keys, false)),
    );
    const texts = new Set(results.map((result) => JSON.stringify(result)));
    const areEqual = texts.size === 1 && typeof results[0] !== 'string';
    if (!areEqual && !isLate) return false;
    if (!areEqual)
      this.faults.push(`convergence: the gateways differ: ${[...texts].join(' and ')}`);
    for (const [n, result] of results.entries()) {
      if (typeof result === 'string') continue;
      const site = store.gateways[n] as SiteIndex;
      load.events.push({ kind: 'final', site, keys, ids: result.ids, atMs: performance.now() });
    }
    return true;
  }
}

function shuffle(names: readonly StormFaultName[], random: Random): readonly StormFaultName[] {
  return names
    .map((name) => ({ name, place: random.fraction() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ name }) => name);
}
