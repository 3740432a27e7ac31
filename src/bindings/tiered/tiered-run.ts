/** One operation on its way through the tiers. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import { waitForWeaker, isAbandoned } from '../../correctable/binding.ts';
import { getElapsedMs } from '../../correctable/clock.ts';
import {
  CorrectableError,
  isCorrectableError,
} from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { followSignal } from '../../correctable/subscribe.ts';
import {
  isRefusal,
  markReported,
  reportFailure,
} from '../../protocol/report-failure.ts';
import { isValueWithDetails, skipLevel } from '../../protocol/tier-result.ts';
import { TierCall, type Tier } from './tier.ts';

/**
 * Whether a read calls its tiers one after the other, as in Listing 7, or all
 * at once.
 */
export type TierMode = 'sequential' | 'parallel';

export interface TieredRunOptions {
  readonly operation: Operation;
  /** All levels of the binding, weakest first. */
  readonly levels: Levels;
  readonly requestedLevels: readonly string[];
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly mode: TierMode;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** Of the binding, for reports. */
  readonly name: string;
  readonly onError: TierErrorHandler | undefined;
}

/** Which tier failed, and in which operation. */
export interface TierFailure {
  readonly level: string;
  readonly operation: Operation;
}

/** Receives what a tier throws. */
export type TierErrorHandler = (
  error: unknown,
  failure: TierFailure,
) => unknown;

type TierOutcome = 'replied' | 'failed' | 'skipped';

export class TieredRun {
  readonly #options: TieredRunOptions;
  /** Calls of tiers that have not answered. */
  readonly #calls = new Set<TierCall>();
  readonly #startedAtMs: number = getElapsedMs();
  #isStopped = false;
  /** What becomes of the weaker tiers of a read, weakest first. */
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
   * Resolves when the operation has ended; weaker tiers may not have. Never
   * rejects: failures go to the sink.
   */
  async runToEnd(): Promise<void> {
    if (this.isWrite) await this.#runFromStrongest();
    else await this.#runRead();
  }

  /**
   * Fails the operation now; what the tiers still answer is of no use to
   * anybody.
   */
  stop(error: CorrectableError): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#options.sink.fail(error);
    this.#abortCalls();
  }

  /**
   * Only the strongest tier executes an update: its answer is final, whatever
   * weaker level was asked for.
   */
  async #runFromStrongest(): Promise<void> {
    const { levels } = this.#options;
    if (
      (await this.#callTier(levels[levels.length - 1] as string)) === 'skipped'
    )
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
    await this.#runWrite();
  }

  /**
   * Asks the strongest requested tier and, where it has no answer, the stronger
   * ones in turn.
   */
  async #runWrite(): Promise<void> {
    const { levels, requestedLevels } = this.#options;
    const from = levels.indexOf(
      requestedLevels[requestedLevels.length - 1] as string,
    );
    for (const level of levels.slice(from)) {
      if (
        (await this.#callTier(level)) !== 'skipped' ||
        this.#isReadAbandoned()
      )
        return this.#abortCalls();
    }
    await this.#failWithoutReply();
    this.#abortCalls();
  }

  /** The tiers that have not answered are wanted no more. */
  #abortCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /**
   * What becomes of a tier; it has failed once the time limit of its level has
   * passed, as the client counts it too.
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
    const { operation, context, tiers, sink } = this.#options;
    const tier = tiers[level] as Tier;
    const call = new TierCall(level, operation, context);
    this.#calls.add(call);
    try {
      const result = await tier.call(tiers, operation, call);
      if (result === skipLevel) return 'skipped';
      if (!this.#isCallerGone()) {
        if (isValueWithDetails(result))
          sink.view(result.value, level, result.details);
        else sink.view(result, level);
      }
      return 'replied';
    } catch (error) {
      // A driver whose signal has aborted throws, and nothing has failed.
      if (!call.isAborted) this.#reportFailure(error, level);
      await this.#handleTierFailure(error, level);
      return 'failed';
    } finally {
      this.#calls.delete(call);
      call.stopFollowingSignals();
    }
  }

  /** A weak tier can fail for long without any operation that fails. */
  #reportFailure(error: unknown, level: string): void {
    const { name, operation, onError } = this.#options;
    const description = `${name}: the tier "${level}" failed in ${operation.name}`;
    if (onError)
      reportFailure(error, description, () =>
        onError(error, { level, operation }),
      );
    else if (!isRefusal(error)) reportFailure(error, description, undefined);
    markReported(error);
  }

  /**
   * The failure of a level that was not requested, a substitute, is the failure
   * of the operation.
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
   * Waits shortly for weaker tiers before a failure: after it, none of their
   * views would be delivered.
   */
  async #waitForWeakerTiers(failure: unknown, level: string): Promise<void> {
    if (this.#weakerOutcomes.length === 0 || this.#isStopped) return;
    const { context } = this.#options;
    const blockedBy = isCorrectableError(failure)
      ? failure
      : new CorrectableError(
          'FINAL_FAILED',
          `the tier of '${level}' failed; see cause`,
          {
            cause: failure,
          },
        );
    context.submissionStatus = {
      mayHaveBeenSent: true,
      blockedBy,
      levelErrors: { [level]: failure },
    };
    await waitForWeaker(this.#waitForBestWeakerTier(), context);
    if (context.signal.aborted) this.#isStopped = true;
  }

  /**
   * Resolves once one has answered and all above it have not: those below it
   * are of no use any more.
   */
  async #waitForBestWeakerTier(): Promise<void> {
    for (const requested of this.#weakerOutcomes.toReversed())
      if ((await requested) === 'replied') return;
  }

  /**
   * The answer of a slow tier is not delivered to a caller that has left. That
   * of an update is: it was done.
   */
  #isCallerGone(): boolean {
    return (
      this.#isStopped ||
      (!this.isWrite && isAbandoned(this.#options.context, this.#startedAtMs))
    );
  }

  /**
   * An unwanted read asks no further tiers. Not looked at before an answer, so
   * that a single fast tier costs no signal.
   */
  #isReadAbandoned(): boolean {
    return this.#isStopped || this.#options.context.signal.aborted;
  }
}
