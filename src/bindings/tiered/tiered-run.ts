/** One operation while its tiers run. */
import type { InvocationContext, Sink, ViewDetails } from '../../correctable/binding.ts';
import { waitForWeaker, isAbandoned } from '../../correctable/binding.ts';
import { getElapsedMs } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { followSignal } from '../../correctable/subscribe.ts';
import { isRefusal, markReported, reportFailure } from '../../protocol/report-failure.ts';
import { isValueWithDetails, skipLevel } from '../../contract/tier-result.ts';
import { LevelCall } from '../shared/level-call.ts';
import type { Tier } from './tier.ts';

/** Whether a read calls its tiers one after the other, as in Listing 7, or all at once. */
export type TierMode = 'sequential' | 'parallel';

export interface TieredRunOptions {
  readonly operation: Operation;
  /** All levels of the binding, weakest first. */
  readonly levels: Levels;
  readonly requestedLevels: readonly string[];
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly mode: TierMode;
  readonly freshEnough: ((view: TierView, operation: Operation) => boolean) | undefined;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** The name of the binding, for reports. */
  readonly name: string;
  readonly onError: TierErrorHandler | undefined;
}

/** The answer of a weaker tier, which may be enough. */
export interface TierView extends Omit<ViewDetails, 'final'> {
  readonly value: unknown;
  readonly level: string;
}

/** The tier that failed, and its operation. */
export interface TierFailure {
  readonly level: string;
  readonly operation: Operation;
}

/** Receives the errors that tiers throw. */
export type TierErrorHandler = (error: unknown, failure: TierFailure) => unknown;

type TierOutcome = 'replied' | 'failed' | 'skipped';

export class TieredRun {
  readonly #options: TieredRunOptions;
  /** Calls of tiers that are pending. */
  readonly #calls = new Set<LevelCall>();
  readonly #startedAtMs: number = getElapsedMs();
  #isStopped = false;
  /** The outcomes of the weaker tiers of a read, weakest first. */
  readonly #weakerOutcomes: Promise<TierOutcome>[] = [];

  constructor(options: TieredRunOptions) {
    this.#options = options;
  }

  get isWrite(): boolean {
    return this.#options.operation.access === 'write';
  }

  get isAbandoned(): boolean {
    return this.#options.context.signal.aborted;
  }

  /**
   * Resolves when the operation has ended. Weaker tiers may still run. Never rejects: failures go
   * to the sink.
   */
  async runToEnd(): Promise<void> {
    if (this.isWrite) await this.#runWrite();
    else await this.#runRead();
  }

  /** Fails the operation now. Later results of its tiers are dropped. */
  stop(error: CorrectableError): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#options.sink.fail(error);
    this.#abortCalls();
  }

  /**
   * Only the strongest tier executes a write. Its result is final, whatever weaker level was
   * requested.
   */
  async #runWrite(): Promise<void> {
    const { levels } = this.#options;
    if ((await this.#callTier(levels[levels.length - 1] as string)) === 'skipped')
      await this.#failWithoutReply();
  }

  async #runRead(): Promise<void> {
    const { requestedLevels, mode } = this.#options;
    for (const level of requestedLevels.slice(0, -1)) {
      const query = this.#callTierUntilLate(level);
      this.#weakerOutcomes.push(query);
      if (mode === 'parallel') continue;
      await query;
      if (this.#isReadAbandoned()) return;
    }
    await this.#runFromStrongestRequested();
  }

  /**
   * Calls the strongest requested tier and, while a tier has no answer, the stronger ones in turn.
   */
  async #runFromStrongestRequested(): Promise<void> {
    const { levels, requestedLevels } = this.#options;
    const from = levels.indexOf(requestedLevels[requestedLevels.length - 1] as string);
    for (const level of levels.slice(from)) {
      if ((await this.#callTier(level)) !== 'skipped' || this.#isReadAbandoned())
        return this.#abortCalls();
    }
    await this.#failWithoutReply();
    this.#abortCalls();
  }

  /** Aborts the pending calls, because their results are not needed any more. */
  #abortCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /**
   * Returns the outcome of a tier. It counts as failed once the timeout of its level has passed, as
   * at the client.
   */
  #callTierUntilLate(level: string): Promise<TierOutcome> {
    const late = this.#options.context.levelSignals?.[level];
    if (late === undefined) return this.#callTier(level);
    if (late.aborted) return Promise.resolve('failed');
    return new Promise((resolve) => {
      const unfollow = followSignal(late, () => resolve('failed'));
      void this.#callTier(level).then((outcome) => {
        unfollow();
        resolve(outcome);
      });
    });
  }

  async #callTier(level: string): Promise<TierOutcome> {
    const { operation, context, tiers } = this.#options;
    const tier = tiers[level] as Tier;
    const call = new LevelCall(level, operation, context);
    this.#calls.add(call);
    try {
      const result = await tier.call(tiers, operation, call);
      if (result === skipLevel) return 'skipped';
      if (!this.#isCallerGone()) {
        if (isValueWithDetails(result)) this.#show(result.value, level, result.details);
        else this.#show(result, level);
      }
      return 'replied';
    } catch (error) {
      // A driver throws when its signal aborts. That is no failure.
      if (!call.isAborted) this.#reportFailure(error, level);
      await this.#handleTierFailure(error, level);
      return 'failed';
    } finally {
      this.#calls.delete(call);
      call.stopFollowingSignals();
    }
  }

  /**
   * Delivers a view. If it is final, stronger tiers are not called, and what is pending is dropped.
   */
  #show(value: unknown, level: string, details?: ViewDetails): void {
    const { sink, operation, freshEnough, levels } = this.#options;
    const isFinal =
      details?.final ||
      (freshEnough !== undefined &&
        !this.isWrite &&
        level !== levels[levels.length - 1] &&
        freshEnough({ ...details, value, level }, operation));
    if (!isFinal) {
      sink.view(value, level, details);
      return;
    }
    sink.view(value, level, { ...details, final: true });
    this.#isStopped = true;
    this.#abortCalls();
  }

  /**
   * Reports a failure, because a weak tier can fail for a long time without any operation that
   * fails.
   */
  #reportFailure(error: unknown, level: string): void {
    const { name, operation, onError } = this.#options;
    const description = `${name}: the tier "${level}" failed in ${operation.name}`;
    if (onError) reportFailure(error, description, () => onError(error, { level, operation }));
    else if (!isRefusal(error)) reportFailure(error, description, undefined);
    markReported(error);
  }

  /**
   * If the level was not requested and is a substitute, its failure is the failure of the
   * operation.
   */
  async #handleTierFailure(error: unknown, level: string): Promise<void> {
    const { requestedLevels, sink } = this.#options;
    const rank = requestedLevels.indexOf(level);
    if (rank < 0 || rank === requestedLevels.length - 1)
      await this.#waitForWeakerTiers(error, level);
    if (this.#isStopped) return;
    if (rank < 0) sink.fail(error);
    else sink.fail(error, level);
  }

  async #failWithoutReply(): Promise<void> {
    if (this.#isStopped) return;
    const { operation, requestedLevels, sink } = this.#options;
    const level = requestedLevels[requestedLevels.length - 1] as string;
    const error = new CorrectableError(
      'CLOSED_WITHOUT_FINAL',
      `no tier answered '${operation.name}' at '${level}' or stronger: ` +
        'let the strongest tier return a value or throw, not skipLevel',
    );
    await this.#waitForWeakerTiers(error, level);
    if (!this.#isStopped) sink.fail(error);
  }

  /**
   * Waits a short time for weaker tiers before a failure. After it, their views would not be
   * delivered.
   */
  async #waitForWeakerTiers(failure: unknown, level: string): Promise<void> {
    if (this.#weakerOutcomes.length === 0 || this.#isStopped) return;
    const { context } = this.#options;
    const blockedBy = isCorrectableError(failure)
      ? failure
      : new CorrectableError('FINAL_FAILED', `the tier of '${level}' failed; see cause`, {
          cause: failure,
        });
    context.submissionStatus = {
      mayHaveBeenSent: true,
      blockedBy,
      levelErrors: { [level]: failure },
    };
    await waitForWeaker(this.#waitForBestWeakerTier(), context);
    if (context.signal.aborted) this.#isStopped = true;
  }

  /**
   * Resolves once one tier has answered and all stronger ones have not. The weaker ones are not
   * needed any more.
   */
  async #waitForBestWeakerTier(): Promise<void> {
    for (const requested of this.#weakerOutcomes.toReversed())
      if ((await requested) === 'replied') return;
  }

  /**
   * Returns whether a result is dropped because its caller has left. The result of a write is
   * always delivered, because the write was executed.
   */
  #isCallerGone(): boolean {
    return (
      this.#isStopped || (!this.isWrite && isAbandoned(this.#options.context, this.#startedAtMs))
    );
  }

  /**
   * Returns whether a read stops calling tiers. The signal is not read before an answer, so that a
   * single fast tier costs no signal.
   */
  #isReadAbandoned(): boolean {
    return this.#isStopped || this.#options.context.signal.aborted;
  }
}
