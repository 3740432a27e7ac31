/** One operation on its way through the tiers. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import { isLetGo } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
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
  readonly #startedAtMs = performance.now();
  #stopped = false;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get isUpdate(): boolean {
    return this.#options.operation.effect === 'update';
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
    if ((await this.#ask(all[all.length - 1] as string)) === 'skipped') this.#failUnanswered();
  }

  async #read(): Promise<void> {
    const { requested, mode } = this.#options;
    const weaker = requested.slice(0, -1);
    if (mode === 'parallel') {
      for (const level of weaker) void this.#ask(level);
      return this.#decide();
    }
    for (const level of weaker) {
      await this.#askUntilLate(level);
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
    this.#failUnanswered();
    this.#abortCalls();
  }

  /** The tiers that have not answered are wanted no more. */
  #abortCalls(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Goes on to the next tier once the time limit of the level has passed: the client counts it as failed. */
  async #askUntilLate(level: string): Promise<void> {
    const late = this.#options.context.levelSignals?.[level];
    const asked = this.#ask(level);
    if (late === undefined) await asked;
    else
      await new Promise<void>((resolve) => {
        const unfollow = follow(late, () => resolve());
        void asked.then(() => {
          unfollow();
          resolve();
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
      if (!this.#stopped) this.#fail(error, level);
      return 'failed';
    } finally {
      this.#calls.delete(call);
      call.leave();
    }
  }

  /** The failure of a level that was not requested, a substitute, is the failure of the operation. */
  #fail(error: unknown, level: string): void {
    const { requested, sink } = this.#options;
    if (requested.includes(level)) sink.fail(error, level);
    else sink.fail(error);
  }

  #failUnanswered(): void {
    if (this.#stopped) return;
    const { operation, requested } = this.#options;
    this.#options.sink.fail(
      new CorrectableError(
        'CLOSED_WITHOUT_FINAL',
        `no tier answered '${operation.name}' at '${requested[requested.length - 1]}' or stronger: ` +
          'let the strongest tier return a value or throw, not noAnswer',
      ),
    );
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
