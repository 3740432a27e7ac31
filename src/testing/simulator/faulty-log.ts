/** A red log of a bad engine: it repeats records, skips some, and comes back shorter. The log beneath is correct. */
import type { Origin } from '../../server/records/origin.ts';
import type { LogMembers, LogMessage, LogOutput, RedLog, SavedLog } from '../../server/log/red-log.ts';
import type { RedLogEngine } from '../../server/log/red-log-engine.ts';
import type { Random } from '../../server/collections/random.ts';
import type { SimulationOptions } from './options.ts';

/** How unsteady it is, as chances of each delivery. */
export interface LogFaults {
  readonly random: Random;
  readonly repeatChance: number;
  readonly jumpChance: number;
  readonly regressChance: number;
  /** Whether it does nothing of that any more. */
  isHealthy(): boolean;
  /** Something was delivered again. */
  onRepeated(): void;
}

type Delivery<R> = LogOutput<R> & { readonly kind: 'deliver' };

/** An engine whose nodes are as unsteady as that; as it is, where nothing of it is to happen. */
export function createFaultyEngine(
  engine: RedLogEngine,
  chances: Pick<SimulationOptions, 'redRepeatChance' | 'redJumpChance' | 'redRegressChance'>,
  remaining: Pick<LogFaults, 'random' | 'isHealthy' | 'onRepeated'>,
): RedLogEngine {
  const { redRepeatChance, redJumpChance, redRegressChance } = chances;
  if (redRepeatChance + redJumpChance + redRegressChance === 0) return engine;
  const how = {
    ...remaining,
    repeatChance: redRepeatChance,
    jumpChance: redJumpChance,
    regressChance: redRegressChance,
  };
  return { ...engine, createNode: (options) => new FaultyLog(engine.createNode(options), how) };
}

/** One site's node of such a log. */
export class FaultyLog<R> implements RedLog<R> {
  readonly #log: RedLog<R>;
  readonly #faults: LogFaults;
  #last: Delivery<R> | undefined;
  #hasJumped = false;
  #isJumpNoticed = false;

  constructor(log: RedLog<R>, how: LogFaults) {
    this.#log = log;
    this.#faults = how;
  }

  get isBusy(): boolean {
    return this.#log.isBusy;
  }

  get retainedFrom(): number {
    return this.#log.retainedFrom;
  }

  get backlogLength(): number {
    return this.#log.backlogLength;
  }

  getBacklog(site: Origin): number {
    return this.#log.getBacklog?.(site) ?? 0;
  }

  identity(): string {
    return this.#log.identity();
  }

  digest(length: number): number | undefined {
    return this.#log.digest(length);
  }

  save(): SavedLog {
    return this.#log.save();
  }

  release(length: number): void {
    this.#log.release(length);
  }

  propose(record: R, nowMs: number): void {
    this.#log.propose(record, nowMs);
  }

  withdraw(record: R): boolean {
    return this.#log.withdraw(record);
  }

  setMembers(members: LogMembers): void {
    this.#log.setMembers?.(members);
  }

  receive(from: Origin, message: LogMessage, nowMs: number): void {
    this.#log.receive(from, message, nowMs);
  }

  onSynced(length: number): void {
    this.#log.onSynced(length);
  }

  /** A jump after which nothing came is noticed at last by who compares what there is with what was delivered. */
  tick(nowMs: number): void {
    this.#log.tick(nowMs);
    this.#isJumpNoticed = this.#hasJumped;
  }

  takeOutputs(): readonly LogOutput<R>[] {
    const outputs = this.#log.takeOutputs();
    const isQuiet = !this.#isJumpNoticed && outputs.every(({ kind }) => kind !== 'deliver');
    if (isQuiet) return outputs;
    const disturbed = outputs.flatMap((output) => (output.kind === 'deliver' ? this.#addFaults(output) : [output]));
    if (!this.#isJumpNoticed) return disturbed;
    this.#hasJumped = this.#isJumpNoticed = false;
    return [...disturbed, { kind: 'gap', message: 'it has more than it has delivered' }];
  }

  #addFaults(delivery: Delivery<R>): readonly LogOutput<R>[] {
    const { random, repeatChance, jumpChance, regressChance } = this.#faults;
    const before = this.#last;
    this.#last = delivery;
    if (this.#faults.isHealthy()) return [delivery];
    if (random.chance(jumpChance)) {
      this.#hasJumped = true;
      return [];
    }
    if (random.chance(regressChance)) return [{ kind: 'regressed', message: 'it ends before what it has delivered' }];
    if (!random.chance(repeatChance)) return [delivery];
    this.#faults.onRepeated();
    return before === undefined ? [delivery, delivery] : [before, delivery, before, delivery];
  }
}
