/** What executions of red operations stand on: own ones in flight that lie under what they read. */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { certifiedReads } from '../../generator/read-set.ts';
import { CHAIN_MAX, type Chain } from './chain.ts';
import type { Contention } from './contention.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import type { Lack } from '../core/rights-port.ts';
import type { Awaited, Laid, RedRequest, StableRun } from './red-requests.ts';
import { takesOf } from '../../service/takes.ts';
import type { ReplicaCore } from '../core/replica-port.ts';

/** What an execution comes to with what lies under it, or what it has to wait for. */
export interface Footing {
  readonly run: StableRun;
  readonly after: readonly Laid[];
  /** The one whose end it waits for. */
  readonly waitsFor?: Awaited | undefined;
  /** The rights that it waits for. */
  readonly lack?: Lack | undefined;
}

/** What has to be unchanged for the outcome of a run on the present state. */
export function runOf({ state, options }: ReplicaCore, outcome: GeneratorOutcome): StableRun {
  return { outcome, reads: certifiedReads(outcome, options.service.tables), version: state.version };
}

/** Finds what executions of one site stand on. */
export class Footings {
  readonly #core: ReplicaCore;
  readonly #chain: Chain;
  readonly #contention: Contention;
  readonly #depthMax: number;
  /** How many an execution may stand on at present. */
  #depth: number;

  constructor(core: ReplicaCore, chain: Chain, contention: Contention) {
    this.#core = core;
    this.#chain = chain;
    this.#contention = contention;
    this.#depthMax = core.options.chainMax ?? CHAIN_MAX;
    this.#depth = this.#depthMax;
  }

  /** One has committed. */
  grow(): void {
    if (this.#depth < this.#depthMax) this.#depth += 1;
  }

  /** One was rejected, and what stood on it will be: the next chain is to cost less if it falls too. */
  shrink(): void {
    this.#depth = Math.floor(this.#depth / 2);
  }

  /**
   * Where an operation can be executed now, or what it has to wait for.
   *
   * @throws CorrectableError where it takes more than stands
   */
  of(request: RedRequest, run: StableRun): Footing {
    const footing = this.#under(request, run);
    return footing.waitsFor === undefined ? this.#withRights(footing) : footing;
  }

  #withRights(footing: Footing): Footing {
    const { rights, state } = this.#core;
    if (rights === undefined) return footing;
    const last = footing.after.at(-1)?.request;
    try {
      const lack = rights.lackInRed(footing.run.outcome, last === undefined ? state.store : state.laid);
      return { ...footing, lack };
    } catch (error) {
      // What lies under it may not come to that: then enough stands.
      if (last === undefined || !isCorrectableError(error)) throw error;
      return { ...footing, waitsFor: last };
    }
  }

  /** Executes once more where `run`, on the stable snapshot, has read what own operations in flight write: on these. */
  #under(request: RedRequest, run: StableRun): Footing {
    const standsAlone = { run, after: [] };
    const waitsFor = this.#turnBefore(request, run);
    if (waitsFor !== undefined) return { ...standsAlone, waitsFor };
    if (!request.mayStand || this.#chain.isEmpty) return standsAlone;
    const last = this.#chain.under(run.reads).at(-1)?.request;
    if (last === undefined) return standsAlone;
    this.#chain.show();
    request.run = undefined;
    let laid: StableRun;
    try {
      laid = runOf(this.#core, this.#core.state.runLaid(request.submission));
    } catch (error) {
      // It need not come to that: what it fails on is not certain yet.
      if (isCorrectableError(error)) return { ...standsAlone, waitsFor: last };
      throw error;
    }
    const under = this.#chain.under(laid.reads);
    return { run: laid, after: this.#chain.named(under), waitsFor: this.#obstacleOf(request, laid, under) };
  }

  /**
   * A take of which another site waits for its turn: who is nearer to the leader would be faster each time. Once only, and
   * not where it was rejected itself: two would wait for each other.
   */
  #turnBefore(request: RedRequest, { outcome, reads }: StableRun): Awaited | undefined {
    if (request.hasGivenWay || request.attempt > request.cascades) return undefined;
    if (takesOf(this.#core.options.service.tables, outcome.choice?.effects ?? []).length === 0) return undefined;
    const met = this.#contention.about(reads, request.id);
    request.hasGivenWay = met !== undefined;
    return met;
  }

  /** The operation whose end an execution has to wait for, if there is one. */
  #obstacleOf({ id }: RedRequest, { reads }: StableRun, under: readonly Laid[]): RedRequest | undefined {
    const isInTheWay = under.length > 0 && this.#contention.about(reads, id) !== undefined;
    const obstacle = isInTheWay
      ? under.at(-1)
      : (under.findLast(({ isMoved }) => isMoved) ?? under.at(-1 - this.#depth));
    return obstacle?.request;
  }
}
