/**
 * The state of one site: its store, the vector of what is applied, and its own red operations in
 * flight as overlays.
 */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import type { Stamp } from '../../service/records/effect.ts';
import type { ReadSet } from '../../service/generator/read-set.ts';
import type { Partitions } from '../../service/partitions.ts';
import { PartitionCheck } from './partition-check.ts';
import { toError } from '../../service/records/failures.ts';
import { freezeForUser, freezeWireCopy } from '../../../values/deep-freeze.ts';
import type { GeneratorPorts } from '../../service/generator/generator-budget.ts';
import {
  GeneratorRunner,
  type GeneratorOptions,
  type GeneratorOutcome,
} from '../../service/generator/generator-runner.ts';
import type { GeneratorInput } from '../../service/generator/generator-context.ts';
import { Overlay } from '../../service/state/overlay.ts';
import { createInternalError, toClientError } from '../../service/records/internal-errors.ts';
import { RED, type Origin, type Origins } from '../../service/records/origin.ts';
import type { BlueOperation, RedOperation } from '../../service/records/records.ts';
import { toReply, type ReplyOrError, type Reply } from '../../service/records/reply.ts';
import type { ReplyCheck } from '../../service/domain-errors.ts';
import { getOperationPlans, type OperationPlans } from '../../service/operation-plan.ts';
import type { Service } from '../../service/service.ts';
import { Store } from '../../service/state/store.ts';
import { createZeroVector, type Vector } from '../../service/records/vector.ts';
import { freezeReply } from '../../service/generator/validate-output.ts';

/** An operation of the contract with the shadow operation that was chosen for it. */
interface ReplyingOperation {
  readonly plan: { readonly name: string; readonly checkResult: ReplyCheck };
  readonly choice: ShadowCall | undefined;
  readonly reply: Reply;
}

/** The shadow operation that makes a reply, with its arguments. */
interface ShadowCall {
  readonly shadow: string;
  readonly args: unknown;
}

/** How a state runs generators, and which rows its red logs order. */
export interface StateOptions extends GeneratorOptions {
  /** Default: one log orders all rows */
  readonly partitions?: Partitions | undefined;
}

/** One execution of a strong read. */
export interface ReadRun {
  readonly answer: ReplyOrError;
  readonly reads: ReadSet;
  /** The ordinals of the partitions beside its home that it has read. */
  readonly others: readonly number[];
}

const NOTHING_READ = {
  reads: { names: new Set<string>(), ranges: [] },
  others: [],
} as const;

export class SiteState {
  readonly store: Store;
  /** The store with all own red operations in flight as they are expected, for previews. */
  readonly overlay: Overlay;
  /**
   * The store with the own red operations that are proposed, for others that depend on these
   * (`pipeline.ts`).
   */
  readonly pipelined: Overlay;
  /** Finds the partitions of executions. It is `undefined` if all rows are in `main`. */
  readonly partitionCheck: PartitionCheck | undefined;
  readonly #service: Service;
  readonly #origins: Origins;
  readonly #plans: OperationPlans;
  readonly #onThrown: GeneratorPorts['onGeneratorError'];
  readonly #generators: GeneratorRunner;
  readonly #stable: number[];
  #version = 0;

  constructor(service: Service, origins: Origins, { partitions, ...options }: StateOptions = {}) {
    this.#service = service;
    this.#origins = origins;
    this.#plans = getOperationPlans(service);
    this.#onThrown = options.onGeneratorError;
    this.#stable = createZeroVector(origins);
    this.store = new Store(service.tables);
    this.overlay = new Overlay(service.tables, this.store);
    this.pipelined = new Overlay(service.tables, this.store);
    this.#generators = new GeneratorRunner(service, this.overlay.underlying, {
      ...options,
      origins,
    });
    this.partitionCheck = partitions && new PartitionCheck(partitions, service.tables);
  }

  /**
   * The stable snapshot: for each site and each red log, the stamp of the last operation that was
   * applied here.
   */
  get stable(): Vector {
    return this.#stable;
  }

  /**
   * Returns the stable snapshot for a record. Of several red logs one may lack the origin of a site
   * that joins, which has done nothing as long as that is so. Such a log takes no record that names
   * the origin, so entries of zero are left out.
   */
  takeSnapshot(): Vector {
    const { logs, founderCount } = this.#origins;
    let { length } = this.#stable;
    if (logs.length > 1)
      while (length > founderCount + logs.length && this.#stable[length - 1] === 0) length -= 1;
    return this.#stable.slice(0, length);
  }

  /** A number that grows with every operation that is applied. */
  get version(): number {
    return this.#version;
  }

  /** Runs a generator on the stable snapshot. Throws the errors of `GeneratorRunner.run`. */
  run(input: GeneratorInput): GeneratorOutcome {
    this.overlay.underlying.wasCovered = false;
    return this.#generators.run(input);
  }

  /**
   * Runs a generator on top of the own red operations in flight. Returns `stable`, the outcome of
   * the last `run`, if it cannot differ.
   */
  runTentatively(input: GeneratorInput, stable: GeneratorOutcome): GeneratorOutcome {
    return this.overlay.underlying.wasCovered ? this.#generators.run(input, this.overlay) : stable;
  }

  /** Runs a generator on the stable snapshot with the own red operations that it may depend on. */
  runPipelined(input: GeneratorInput): GeneratorOutcome {
    return this.#generators.run(input, this.pipelined);
  }

  grow(size: number): void {
    while (this.#stable.length < size) this.#stable.push(0);
  }

  /** Restores the vector that belongs to the rows of a checkpoint. */
  loadStable(stable: Vector): void {
    for (const [entry, stamp] of stable.entries()) this.#stable[entry] = stamp;
  }

  /** Returns the answer of a read on the stable snapshot. */
  read(input: GeneratorInput): ReplyOrError {
    try {
      const { choice, reply, domainError } = this.#generators.run(input);
      if (choice === undefined) return domainError ?? reply;
      return declaredReadError(input, choice);
    } catch (error) {
      if (isCorrectableError(error)) return error;
      throw error;
    }
  }

  /**
   * Executes a strong read on the stable snapshot, in a deployment with several partitions.
   *
   * @param home the ordinal of its partition
   */
  readInOrder(input: GeneratorInput, home: number): ReadRun {
    try {
      const run = this.#generators.run(input, undefined, true);
      const { reads, choice, reply, domainError } = run;
      if (choice !== undefined)
        return { ...NOTHING_READ, answer: declaredReadError(input, choice) };
      const { name } = input.plan;
      const others = this.partitionCheck?.findOthers(run, { name, home }) ?? [];
      return { answer: domainError ?? reply, reads, others };
    } catch (error) {
      if (isCorrectableError(error)) return { ...NOTHING_READ, answer: error };
      throw error;
    }
  }

  applyBlue(operation: BlueOperation): void {
    const { site, vector, effects } = operation;
    const stamp = this.getStamp(operation);
    for (const effect of effects) this.store.apply(effect, stamp);
    this.#stable[site] = vector[site] ?? 0;
    this.#version += 1;
  }

  /** Applies a committed red operation and returns its answer. */
  applyRed(operation: RedOperation, version: number): ReplyOrError {
    const { site, snapshot, effects, partition = 0 } = operation;
    const entry = this.#origins.logs[partition] ?? RED;
    // It comes after all red operations before it in its log, whether or not its site has seen
    // them. So a row that it only writes needs no certification.
    const stamp = {
      time: version,
      site,
      entry,
      version,
      seen: this.#getSeen(snapshot, version),
    };
    const results = effects.map((effect) => this.store.apply(effect, stamp));
    this.#stable[entry] = version;
    this.#version += 1;
    const { shadow, args, reply, domainError } = operation;
    if (domainError !== undefined) return toError(domainError);
    const { operation: name } = operation;
    // A newer version of the service may have had an operation of this name.
    const plan = this.#plans.get(name) ?? { name, checkResult: toReply };
    const choice = shadow === undefined ? undefined : { shadow, args };
    return this.createAppliedReply({ plan, choice, reply }, results);
  }

  /** A red log has got to this stamp, without a change of the data. */
  advanceRed(log: Origin, stamp: number): void {
    this.#stable[log] = stamp;
  }

  /**
   * On the rows of one partition, stamps of all red logs grow in one order: a global has a larger
   * one than what its rows had before, and what comes after it has a larger one than the global.
   */
  #getSeen(snapshot: Vector, version: number): Vector {
    const seen = [...snapshot];
    for (const log of this.#origins.logs) if (log < seen.length) seen[log] = version - 1;
    return seen;
  }

  /** Returns the answer of a shadow operation whose effects were applied with these results. */
  createAppliedReply(answerable: ReplyingOperation, results: unknown[]): ReplyOrError {
    const answer = this.createReply(answerable, results);
    return isCorrectableError(answer) && results.length > 0 ? replyFailedError(answer) : answer;
  }

  /**
   * Returns the answer of a shadow operation whose effects have these results, whether or not they
   * are applied.
   */
  createReply({ plan, choice, reply }: ReplyingOperation, results: unknown[]): ReplyOrError {
    const makeReply =
      choice === undefined ? undefined : this.#service.shadowOperations[choice.shadow]?.reply;
    if (makeReply === undefined) return reply;
    try {
      return freezeReply(
        plan.checkResult(makeReply(results.map(freezeForUser), freezeWireCopy(choice?.args))),
      );
    } catch (error) {
      const caller = `the reply of shadow operation '${String(choice?.shadow)}', for '${plan.name}',`;
      const reported = toClientError(error, (hidden) => this.#onThrown?.(caller, hidden));
      const message = `The reply of shadow operation '${String(choice?.shadow)}' threw; the alarms of the site say what.`;
      return (
        reported ??
        createInternalError('FINAL_FAILED', message, `shadowOperations.${String(choice?.shadow)}`)
      );
    }
  }

  /** Returns the stamp of a blue operation: its own entry of the vector is its time too. */
  getStamp({ site, vector }: BlueOperation): Stamp {
    const version = vector[site] ?? 0;
    return { time: version, site, entry: site, version, seen: vector };
  }
}

function declaredReadError(
  { plan: { name } }: GeneratorInput,
  { shadow }: ShadowCall,
): CorrectableError {
  const message = `'${name}' is declared a read but chose '${shadow}'. Declare it a write.`;
  return new CorrectableError('FINAL_FAILED', message, {
    field: `operations.${name}.effect`,
  });
}

/**
 * Returns the error of an operation that is done, but whose reply failed: the code must not suggest
 * a retry.
 */
function replyFailedError(error: CorrectableError): CorrectableError {
  const code = error.code === 'FINAL_FAILED' ? error.code : 'UNKNOWN';
  const message = `${error.message} The operation has taken effect all the same: do not retry.`;
  return new CorrectableError(code, message, {
    field: error.field,
    cause: error,
    retryable: false,
  });
}
