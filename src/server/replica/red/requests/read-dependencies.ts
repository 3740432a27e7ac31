/**
 * What executions of red operations stand on: own ones in flight that lie under
 * what they read.
 */
import { isCorrectableError } from '../../../../correctable/errors.ts';
import { findCertifiedReads } from '../../../generator/read-set.ts';
import { MAX_PIPELINE_LENGTH, type Pipeline } from './pipeline.ts';
import type { Contention } from './contention.ts';
import type { GeneratorOutcome } from '../../../generator/generator-runner.ts';
import type { RightsShortfall } from '../../core/rights-port.ts';
import type {
  WaitableRequests,
  PipelinedOperation,
  RedRequest,
  StableRun,
} from './red-requests.ts';
import { sumTakes } from '../../../service/bounded-takes.ts';
import type { ReplicaCore } from '../../core/replica-port.ts';

/**
 * What an execution comes to with what lies under it, or what it has to wait
 * for.
 */
export interface ReadDependencies {
  readonly run: StableRun;
  readonly dependencies: readonly PipelinedOperation[];
  readonly waitsFor?: WaitableRequests | undefined;
  readonly shortfall?: RightsShortfall | undefined;
}

/** What has to be unchanged for the outcome of a run on the present state. */
export function toStableRun(
  { state, options }: ReplicaCore,
  outcome: GeneratorOutcome,
): StableRun {
  return {
    outcome,
    reads: findCertifiedReads(outcome, options.service.tables),
    version: state.version,
  };
}

export class DependencyResolver {
  readonly #core: ReplicaCore;
  readonly #pipeline: Pipeline;
  readonly #contention: Contention;
  readonly #maxDepth: number;
  /** How many an execution may stand on at present. */
  #depth: number;

  constructor(core: ReplicaCore, chain: Pipeline, contention: Contention) {
    this.#core = core;
    this.#pipeline = chain;
    this.#contention = contention;
    this.#maxDepth = core.options.maxPipelineLength ?? MAX_PIPELINE_LENGTH;
    this.#depth = this.#maxDepth;
  }

  /** One has committed. */
  grow(): void {
    if (this.#depth < this.#maxDepth) this.#depth += 1;
  }

  /**
   * One was rejected, and what stood on it will be: the next chain is to cost
   * less if it falls too.
   */
  shrink(): void {
    this.#depth = Math.floor(this.#depth / 2);
  }

  /**
   * Where an operation can be executed now, or what it has to wait for.
   *
   * @throws CorrectableError where it takes more than stands
   */
  resolve(request: RedRequest, run: StableRun): ReadDependencies {
    const footing = this.#runOnPipeline(request, run);
    return footing.waitsFor === undefined
      ? this.#resolveRights(footing)
      : footing;
  }

  #resolveRights(footing: ReadDependencies): ReadDependencies {
    const { rights, state } = this.#core;
    if (rights === undefined) return footing;
    const last = footing.dependencies.at(-1)?.request;
    try {
      const shortfall = rights.findRedShortfall(
        footing.run.outcome,
        last === undefined ? state.store : state.pipelined,
      );
      return { ...footing, shortfall };
    } catch (error) {
      // What lies under it may not come to that: then enough stands.
      if (last === undefined || !isCorrectableError(error)) throw error;
      return { ...footing, waitsFor: last };
    }
  }

  /**
   * Executes once more where `run`, on the stable snapshot, has read what own
   * operations in flight write: on these.
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
      );
    } catch (error) {
      // It need not come to that: what it fails on is not certain yet.
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
   * Returns a take of another site that waits for its turn: otherwise the site
   * nearer to the leader would always be faster. Once only, and not for a
   * rejected take: two would wait for each other.
   */
  #findEarlierTurn(
    request: RedRequest,
    { outcome, reads }: StableRun,
  ): WaitableRequests | undefined {
    if (request.hasYielded || request.attempt > request.uncountedRejections)
      return undefined;
    if (
      sumTakes(this.#core.options.service.tables, outcome.choice?.effects ?? [])
        .length === 0
    )
      return undefined;
    const encountered = this.#contention.findBlocker(reads, request.id);
    request.hasYielded = encountered !== undefined;
    return encountered;
  }

  /** The operation whose end an execution has to wait for, if there is one. */
  #findBlocker(
    { id }: RedRequest,
    { reads }: StableRun,
    under: readonly PipelinedOperation[],
  ): RedRequest | undefined {
    const isInTheWay =
      under.length > 0 && this.#contention.findBlocker(reads, id) !== undefined;
    const obstacle = isInTheWay
      ? under.at(-1)
      : (under.findLast(({ hasStateChanged }) => hasStateChanged) ??
        under.at(-1 - this.#depth));
    return obstacle?.request;
  }
}
