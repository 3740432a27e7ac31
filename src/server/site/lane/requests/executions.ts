/**
 * The executions of this site's red requests, from the first preview until the order decides: on
 * the stable snapshot, or on top of own operations that are proposed and not decided. A rejected
 * request is executed again.
 */
import { isCorrectableError } from '../../../../correctable/errors.ts';
import { RunQueue } from '../../../service/collections/fifo.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { Conflict } from '../../../service/records/certification-result.ts';
import { isGlobal } from '../global-records.ts';
import type { OperationId, RedOperation } from '../../../service/records/records.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { Settling, SitePart } from '../../core/site-part.ts';
import type { RightsShortfall } from '../../core/rights-port.ts';
import type { Lane, Lanes } from '../lane.ts';
import { getExecutions } from './pipeline.ts';
import { PreliminaryResults } from './preliminary-results.ts';
import type { GlobalRequests } from './global-requests.ts';
import type { Proposals } from './proposals.ts';
import { toStableRun } from './read-dependencies.ts';
import { createRecord, isLastAttempt } from './red-record.ts';
import {
  takeProposalWaiters,
  waitFor,
  type RedRequest,
  type RedRequests,
  type StableRun,
} from './red-requests.ts';
import { shouldRetry } from './retry-policy.ts';
import { isWaitedFor, RightsWaiters } from './rights-waiters.ts';

/** The parts that executions share with the red path. */
export interface ExecutionParts {
  readonly requests: RedRequests;
  readonly proposals: Proposals;
  readonly lanes: Lanes;
  /** `undefined` if there is one lane only. */
  readonly globals: GlobalRequests | undefined;
}

export class Executions implements SitePart, Settling {
  /**
   * Whether a request waits for a slot, or for an operation of another site. With several lanes it
   * is always set: `GlobalRequests` knows itself which globals are due.
   */
  isDue: boolean;
  readonly #core: SiteCore;
  readonly #requests: RedRequests;
  readonly #proposals: Proposals;
  readonly #lanes: Lanes;
  readonly #preliminaryResults: PreliminaryResults;
  readonly #rightsWaiters: RightsWaiters;
  readonly #globals: GlobalRequests | undefined;
  readonly #close: (request: RedRequest) => void;
  readonly #ready = new RunQueue<RedRequest>((request) => {
    // It may have ended meanwhile, by a record that another site proposed.
    if (!request.isOver) this.#execute(request);
  });

  /** @param close ends a request that cannot be executed again */
  constructor(
    core: SiteCore,
    { requests, proposals, lanes, globals }: ExecutionParts,
    close: (request: RedRequest) => void,
  ) {
    this.#core = core;
    this.#requests = requests;
    this.#proposals = proposals;
    this.#close = close;
    this.#globals = globals;
    this.isDue = globals !== undefined;
    this.#lanes = lanes;
    this.#preliminaryResults = new PreliminaryResults(core, requests, lanes);
    this.#rightsWaiters = new RightsWaiters(core, requests);
  }

  /** Begins a request, at once or when a throttle has a slot for it. */
  begin(request: RedRequest, outcome: GeneratorOutcome): void {
    this.#giveUpOnError(request, () => {
      const { throttled } = this.#laneOf(request);
      if (throttled.enter(request, this.#core.nowMs)) this.#enter(request, outcome);
      else this.isDue = true;
    });
  }

  /** When `settle` has something to do though nothing happens. */
  get wakeAtMs(): number | undefined {
    let first = this.#globals?.wakeAtMs;
    for (const { throttled } of this.#lanes.all) {
      const { wakeAtMs } = throttled;
      if (wakeAtMs !== undefined && wakeAtMs < (first ?? Infinity)) first = wakeAtMs;
    }
    return first;
  }

  /**
   * Begins requests that have waited for a slot, as far as there are slots now, and those that have
   * waited for an operation of another site.
   */
  settle(): boolean {
    let hasAdmitted = false;
    let isWaiting = false;
    for (const lane of this.#lanes.all) {
      const { contention, throttled } = lane;
      if (this.#admitTo(lane)) hasAdmitted = true;
      if (contention.isWaiting || throttled.isWaiting) isWaiting = true;
    }
    this.isDue = isWaiting || this.#globals !== undefined;
    if (this.#globals === undefined) return hasAdmitted;
    for (const request of this.#globals.takeReady()) this.#execute(request);
    this.#globals.act();
    return true;
  }

  /** Returns whether anything was there that could go on. */
  #admitTo({ contention, throttled }: Lane): boolean {
    const waiters = contention.takeWaiters();
    for (const waiter of waiters) this.release(waiter);

    let hasAdmitted = waiters.length > 0;
    const { state, nowMs } = this.#core;
    for (
      let next = throttled.takeNext(nowMs);
      next !== undefined;
      next = throttled.takeNext(nowMs)
    ) {
      const request = next;
      this.#giveUpOnError(request, () => this.#enter(request, state.run(request.submission)));
      hasAdmitted = true;
    }
    return hasAdmitted;
  }

  /** One event that the request has waited for has happened. */
  release(request: RedRequest): void {
    request.blockers -= 1;
    if (request.blockers === 0) this.#ready.add(request);
  }

  /** An operation is about to be applied. Its request leaves the overlays. */
  onCommitting(operation: RedOperation): void {
    const request = this.#requests.get(operation.id);
    // Effects leave the overlays before they are in the store, so that they are never seen twice.
    if (request !== undefined) this.#preliminaryResults.remove(request);
    const { pipeline, resolver } = this.#laneOf(operation);
    if (request?.pipelined !== undefined && isLastAttempt(request, operation, this.#core.options)) {
      pipeline.onCommitted(request);
      resolver.grow();
      return;
    }
    if (request !== undefined) pipeline.onNotCommitted(request);
    pipeline.onChanged(operation.effects);
    for (const other of operation.others ?? [])
      this.#lanes.at(other).pipeline.onChanged(operation.effects);
  }

  onRejected(operation: RedOperation, conflict: Conflict | undefined): void {
    const { options } = this.#core;
    const { contention, pipeline, resolver } = this.#laneOf(operation);
    if (operation.site !== options.site) {
      contention.onRejected(operation, conflict);
      this.isDue = true;
    }
    const request = this.#requests.get(operation.id);
    if (request === undefined || !isLastAttempt(request, operation, options)) return;
    // Two logs may have refused it.
    if (isGlobal(operation) && !request.isProposed) return;

    if (pipeline.onNotCommitted(request) > 0) resolver.shrink();
    // Nothing of it is in flight until it is executed again, which may have to wait.
    request.isProposed = false;
    request.canDepend = true;
    // Everything before this record has passed the gate, so the state now holds what it conflicted
    // with.
    if (!shouldRetry(this.#core, request, conflict)) this.#close(request);
    else if (isGlobal(operation)) this.#globals?.waitForRetry(request, operation);
    else if (conflict?.reason === 'held') this.#globals?.waitForRelease(request, conflict);
    else this.#execute(request);
  }

  /** An operation of any site has ended: requests that waited for it go on. */
  onEnded(id: OperationId, partition: number): void {
    this.#lanes.at(partition).contention.onEnded(id);
  }

  /**
   * Takes a request out of the overlays, the pipeline and its slot.
   *
   * @param isOwn whether it ended by a record that this site has proposed
   */
  remove(request: RedRequest, isOwn: boolean): void {
    this.#preliminaryResults.remove(request);
    const { pipeline, throttled } = this.#laneOf(request);
    pipeline.onNotCommitted(request);
    throttled.release(request, this.#core.nowMs, isOwn);
  }

  #laneOf({ partition = 0 }: { readonly partition?: number }): Lane {
    return this.#lanes.at(partition);
  }

  #enter(request: RedRequest, outcome: GeneratorOutcome): void {
    request.run = toStableRun(this.#core, outcome, request);
    const writer = this.#requests.findLastWriter(request.run.reads, request);
    request.canDepend = writer !== undefined;
    this.#preliminaryResults.deliver(request, outcome);
    if (writer !== undefined && isWaitedFor(writer)) waitFor(request, writer, 'proposalWaiters');
    this.release(request);
  }

  #execute(request: RedRequest): void {
    const shortfall = this.#tryExecute(request);
    if (shortfall === undefined) return;
    const followers = this.#rightsWaiters.wait(request, shortfall, {
      onRetry: () => this.#tryExecute(request),
      onTimeout: (error) => this.#giveUp(request, error),
    });
    for (const follower of followers) this.release(follower);
  }

  /** Returns the rights that the request lacks, if it has to wait for some. */
  #tryExecute(request: RedRequest): RightsShortfall | undefined {
    return this.#giveUpOnError(request, () => this.#runAndPropose(request));
  }

  #runAndPropose(request: RedRequest): RightsShortfall | undefined {
    const { state } = this.#core;
    if (request.run?.version !== state.version)
      request.run = toStableRun(this.#core, state.run(request.submission), request);

    const remaining = this.#rightsWaiters.findRemainingShortfall(request, request.run.outcome);
    if (remaining !== undefined) return remaining;
    if (this.#rightsWaiters.queuesBehind(request, request.run.reads)) return undefined;

    if (this.#globals?.waitsForHold(request, request.run) === true) return undefined;
    if (request.run.others !== undefined) return this.#beginGlobal(request, request.run);

    const { pipeline, resolver } = this.#laneOf(request);
    const { run, dependencies, waitsFor, shortfall } = resolver.resolve(request, request.run);
    if (waitsFor !== undefined) waitFor(request, waitsFor, 'endWaiters');
    if (waitsFor !== undefined || shortfall !== undefined) return shortfall;
    // It may be a global only on top of own operations in flight.
    if (run.others !== undefined) return this.#beginGlobal(request, run);

    const executions = getExecutions(dependencies);
    const record = createRecord(this.#core, request, run, executions);
    pipeline.add(request, record, dependencies);
    this.#proposals.proposeWhenDurable(record);
    for (const follower of takeProposalWaiters(request)) this.release(follower);
    return undefined;
  }

  /**
   * A global does not depend on own operations in flight, since their logs have no common order
   * yet. It waits until those have ended that it overlaps, and later ones wait for its end.
   */
  #beginGlobal(request: RedRequest, run: StableRun): RightsShortfall | undefined {
    const { rights, state } = this.#core;
    const shortfall = rights?.findRedShortfall(run.outcome, state.store);
    if (shortfall !== undefined) return shortfall;
    const writer = this.#requests.findLastWriter(run.reads, request);
    if (writer?.isProposed === true) {
      waitFor(request, writer, 'endWaiters');
      return undefined;
    }
    const record = createRecord(this.#core, request, run, []);
    if (isGlobal(record)) this.#globals?.begin(record, request);
    return undefined;
  }

  /** Runs one step of a request. If the step fails, the request ends with that. */
  #giveUpOnError<T>(request: RedRequest, step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.#giveUp(request, error);
      return undefined;
    }
  }

  #giveUp(request: RedRequest, error: unknown): void {
    if (!isCorrectableError(error)) throw error;
    request.failure = error;
    this.#close(request);
  }
}
