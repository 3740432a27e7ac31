/** One operation on its way through the tiers. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import { hearWeaker, isLetGo } from '../../correctable/binding.ts';
import { elapsedMs } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import { follow } from '../../correctable/subscribe.ts';
import { isAnswer, noAnswer } from './answer.ts';
import { TierCall, type Tier } from './tier.ts';

/** Whether the tiers of a read are asked one after the other, as in Listing 7, or all at once. */
export type Mode = 'sequential' | 'parallel';

/** What a run works on. */
export interface RunOptions {
  readonly operation: Operation;
  /** All levels of the binding, weakest first. */
  readonly all: Levels;
  /** Those requested, in the same order. */
  readonly requested: readonly string[];
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly mode: Mode;
  readonly sink: Sink;
  readonly context: InvocationContext;
}

type Outcome = 'answered' | 'failed' | 'skipped';

export class Run {
  readonly #options: RunOptions;
  /** Calls of tiers that have not answered. */
  readonly #calls = new Set<TierCall>();
  readonly #startedAtMs: number = elapsedMs();
  #stopped = false;
  /** What becomes of the weaker tiers of a read, weakest first. */
  readonly #weaker: Promise<Outcome>[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get isUpdate(): boolean {
    return this.#options.operation.effect === 'update';
  }

  /** Whether nobody waits for it any more. */
  get isAbandoned(): boolean {
    return this.#options.context.signal.aborted;
  }

  /** Resolves when the operation has ended; weaker tiers may not have. Never rejects: failures go to the sink. */
  async toEnd(): Promise<void> {
    if (this.isUpdate) await this.#fromStrongest();
    else await this.#read();
  }

  /** Fails the operation now; what the tiers still answer is of no use to anybody. */
  stop(error: CorrectableError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#options.sink.fail(error);
    this.#abortCalls();
  }

  /** Only the strongest tier executes an update: its answer is final, whatever weaker level was asked for. */
  async #fromStrongest(): Promise<void> {
    const { all } = this.#options;
    if ((await this.#ask(all[all.length - 1] as string)) === 'skipped') await this.#failUnanswered();
  }

  async #read(): Promise<void> {
    const { requested, mode } = this.#options;
    for (const level of requested.slice(0, -1)) {
      const asked = this.#askUntilLate(level);
      this.#weaker.push(asked);
      if (mode === 'parallel') continue;
      await asked;
      if (this.#isUnwanted()) return;
    }
    await this.#decide();
  }

  /** Asks the strongest requested tier and, where it has no answer, the stronger ones in turn. */
  async #decide(): Promise<void> {
    const { all, requested } = this.#options;
    const from = all.indexOf(requested[requested.length - 1] as string);
    for (const level of all.slice(from)) {
      if ((await this.#ask(level)) !== 'skipped' || this.#isUnwanted()) return this.#abortCalls();
    }
    await this.#failUnanswered();
    this.#abortCalls();
  }

  /** The tiers that have not answered are wanted no more. */
  #abortCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /** What becomes of a tier; it has failed once the time limit of its level has passed, as the client counts it too. */
  #askUntilLate(level: string): Promise<Outcome> {
    const late = this.#options.context.levelSignals?.[level];
    if (late === undefined) return this.#ask(level);
    if (late.aborted) return Promise.resolve('failed');
    return new Promise((resolve) => {
      const unfollow = follow(late, () => resolve('failed'));
      void this.#ask(level).then((outcome) => {
        unfollow();
        resolve(outcome);
      });
    });
  }

  async #ask(level: string): Promise<Outcome> {
    const { operation, context, tiers, sink } = this.#options;
    const tier = tiers[level] as Tier;
    const call = new TierCall(level, operation, context);
    this.#calls.add(call);
    try {
      const result = await tier(operation, call);
      if (result === noAnswer) return 'skipped';
      if (!this.#isLetGo()) {
        if (isAnswer(result)) sink.update(result.value, level, result.details);
        else sink.update(result, level);
      }
      return 'answered';
    } catch (error) {
      await this.#fail(error, level);
      return 'failed';
    } finally {
      this.#calls.delete(call);
      call.leave();
    }
  }

  /** The failure of a level that was not requested, a substitute, is the failure of the operation. */
  async #fail(error: unknown, level: string): Promise<void> {
    const { requested, sink } = this.#options;
    const rank = requested.indexOf(level);
    if (rank < 0 || rank === requested.length - 1) await this.#hearWeaker(error, level);
    if (this.#stopped) return;
    if (rank < 0) sink.fail(error);
    else sink.fail(error, level);
  }

  async #failUnanswered(): Promise<void> {
    if (this.#stopped) return;
    const { operation, requested, sink } = this.#options;
    const level = requested[requested.length - 1] as string;
    const error = new CorrectableError(
      'CLOSED_WITHOUT_FINAL',
      `no tier answered '${operation.name}' at '${level}' or stronger: ` +
        'let the strongest tier return a value or throw, not noAnswer',
    );
    await this.#hearWeaker(error, level);
    if (!this.#stopped) sink.fail(error);
  }

  /**
   * Before the whole fails: waits until no weaker tier can show anything better, but not for long. What they have is worth
   * most where nothing stronger can be had, and nobody would hear of it afterwards. A deadline that passes meanwhile ends
   * the operation, and says what has failed.
   */
  async #hearWeaker(failure: unknown, level: string): Promise<void> {
    if (this.#weaker.length === 0 || this.#stopped) return;
    const { context } = this.#options;
    const obstacle = isCorrectableError(failure)
      ? failure
      : new CorrectableError('FINAL_FAILED', `the tier of '${level}' failed; see cause`, { cause: failure });
    context.whereabouts = { mayHaveLeft: true, obstacle, levelErrors: { [level]: failure } };
    await hearWeaker(this.#bestOfWeaker(), context);
    if (context.signal.aborted) this.#stopped = true;
  }

  /** Resolves once one has answered and all above it have not: those below it are of no use any more. */
  async #bestOfWeaker(): Promise<void> {
    for (const asked of this.#weaker.toReversed()) if ((await asked) === 'answered') return;
  }

  /** The answer of a slow tier is told to nobody who has left. An update is told: it was done. */
  #isLetGo(): boolean {
    return this.#stopped || (!this.isUpdate && isLetGo(this.#options.context, this.#startedAtMs));
  }

  /** An unwanted read asks no further tiers. Not looked at before an answer, so that a single fast tier costs no signal. */
  #isUnwanted(): boolean {
    return this.#stopped || this.#options.context.signal.aborted;
  }
}
