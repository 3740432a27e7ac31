/**
 * Finds the own operations in flight that an execution depends on, because they write what it
 * reads.
 */
import { CorrectableError, isCorrectableError } from '../../../../correctable/errors.ts';
import { findCertifiedReads, findGlobalReads } from '../../../service/generator/read-set.ts';
import { MAX_PIPELINE_LENGTH, type Pipeline } from './pipeline.ts';
import type { Contention } from './contention.ts';
import type { RecordSource } from './red-record.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { RightsShortfall } from '../../core/rights-port.ts';
import type {
  WaitableRequests,
  PipelinedOperation,
  RedRequest,
  StableRun,
} from './red-requests.ts';
import type { Choice } from '../../../service/records/reply.ts';
import type { Service } from '../../../service/service.ts';
import { sumTakes } from '../../../service/bounded-takes.ts';
import type { SiteCore } from '../../core/site-core.ts';

/** The outcome of an execution on top of its dependencies, or what it has to wait for. */
export interface ReadDependencies {
  readonly run: StableRun;
  readonly dependencies: readonly PipelinedOperation[];
  readonly waitsFor?: WaitableRequests | undefined;
  readonly shortfall?: RightsShortfall | undefined;
}

/**
 * Returns the outcome with the reads that must not change for it to hold, and the partitions beside
 * its home.
 *
 * @throws CorrectableError `FINAL_FAILED` if no log can order it
 */
export function toStableRun(
  { state, options }: SiteCore,
  outcome: GeneratorOutcome,
  { partition: home, submission }: RunSource,
): StableRun {
  const { service } = options;
  const reads = findCertifiedReads(outcome, service.tables);
  const { version, partitionCheck } = state;
  const { choice } = outcome;
  const { name } = submission.plan;
  const run = { reads, choice };
  const others = partitionCheck?.findOthers(run, { name, home }) ?? [];
  if (others.length === 0) return { outcome, reads, version };
  checkReply(service, choice, name);
  const all = findGlobalReads(reads, choice, service.tables);
  return { outcome, reads: all, version, others };
}

/**
 * The results of effects are known in the home, where those of other partitions are not ordered.
 */
function checkReply({ shadowOperations }: Service, choice: Choice | undefined, name: string): void {
  if (choice === undefined) return;
  if (shadowOperations[choice.shadow]?.reply === undefined) return;
  const message = `'${name}' changes rows of several partitions, and makes its reply from the results of its effects. Nothing was done. Let its generator return the reply, or use rows of one partition.`;
  throw new CorrectableError('FINAL_FAILED', message, {
    field: `operations.${name}.partitionBy`,
    retryable: false,
  });
}

/** What was run, and the home partition that orders it. */
type RunSource = Pick<RecordSource, 'partition' | 'submission'>;

export class DependencyResolver {
  readonly #core: SiteCore;
  readonly #pipeline: Pipeline;
  readonly #contention: Contention;
  readonly #maxDepth: number;
  /** The number of operations that an execution may depend on at present. */
  #depth: number;

  constructor(core: SiteCore, pipeline: Pipeline, contention: Contention) {
    this.#core = core;
    this.#pipeline = pipeline;
    this.#contention = contention;
    this.#maxDepth = core.options.maxPipelineLength ?? MAX_PIPELINE_LENGTH;
    this.#depth = this.#maxDepth;
  }

  /** An operation that others may depend on has committed. */
  grow(): void {
    if (this.#depth < this.#maxDepth) this.#depth += 1;
  }

  /**
   * An operation was rejected, and all that depend on it will be. A shorter chain costs less if it
   * is rejected too.
   */
  shrink(): void {
    this.#depth = Math.floor(this.#depth / 2);
  }

  /**
   * Returns the operations on which a request can be executed now, or what it has to wait for.
   *
   * @throws CorrectableError if it takes more than is left
   */
  resolve(request: RedRequest, run: StableRun): ReadDependencies {
    const found = this.#runOnPipeline(request, run);
    return found.waitsFor === undefined ? this.#resolveRights(found) : found;
  }

  #resolveRights(found: ReadDependencies): ReadDependencies {
    const { rights, state } = this.#core;
    if (rights === undefined) return found;
    const last = found.dependencies.at(-1)?.request;
    try {
      const shortfall = rights.findRedShortfall(
        found.run.outcome,
        last === undefined ? state.store : state.pipelined,
      );
      return { ...found, shortfall };
    } catch (error) {
      // The operations below it may not commit. Then enough is left.
      if (last === undefined || !isCorrectableError(error)) throw error;
      return { ...found, waitsFor: last };
    }
  }

  /**
   * Executes a request again, on top of own operations in flight, if its run on the stable snapshot
   * has read what these write.
   */
  #runOnPipeline(request: RedRequest, run: StableRun): ReadDependencies {
    const standsAlone = { run, dependencies: [] };
    const waitsFor = this.#findEarlierTurn(request, run);
    if (waitsFor !== undefined) return { ...standsAlone, waitsFor };
    if (!request.canDepend || this.#pipeline.isEmpty) return standsAlone;
    const last = this.#pipeline.getDependencies(run.reads).at(-1)?.request;
    if (last === undefined) return standsAlone;
    this.#pipeline.show();
    request.run = undefined;
    let overlaid: StableRun;
    try {
      overlaid = toStableRun(
        this.#core,
        this.#core.state.runPipelined(request.submission),
        request,
      );
    } catch (error) {
      // The failure is not certain, because the operations below may not commit.
      if (isCorrectableError(error)) return { ...standsAlone, waitsFor: last };
      throw error;
    }
    const under = this.#pipeline.getDependencies(overlaid.reads);
    return {
      run: overlaid,
      dependencies: this.#pipeline.getDirectDependencies(under),
      waitsFor: this.#findBlocker(request, overlaid, under),
    };
  }

  /**
   * Returns an operation of another site that takes from the same rows and is to be ordered first.
   * Without this the site nearer to the leader would always win. A request waits only once, and not
   * after it was rejected. Otherwise two requests would wait for each other.
   */
  #findEarlierTurn(
    request: RedRequest,
    { outcome, reads }: StableRun,
  ): WaitableRequests | undefined {
    if (request.hasYielded || request.attempt > request.uncountedRejections) return undefined;
    if (sumTakes(this.#core.options.service.tables, outcome.choice?.effects ?? []).length === 0)
      return undefined;
    const blocker = this.#contention.findBlocker(reads, request.id);
    request.hasYielded = blocker !== undefined;
    return blocker;
  }

  /** Returns the operation whose end an execution has to wait for, if there is one. */
  #findBlocker(
    { id }: RedRequest,
    { reads, others }: StableRun,
    under: readonly PipelinedOperation[],
  ): RedRequest | undefined {
    // A global depends on nothing in flight.
    if (others !== undefined) return under.at(-1)?.request;
    const isInTheWay = under.length > 0 && this.#contention.findBlocker(reads, id) !== undefined;
    const obstacle = isInTheWay
      ? under.at(-1)
      : (under.findLast(({ hasStateChanged }) => hasStateChanged) ?? under.at(-1 - this.#depth));
    return obstacle?.request;
  }
}
