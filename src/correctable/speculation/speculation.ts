/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), by the rules of
 * COR-8. At most one run is live. A confirmed run is kept. A refuted one is undone before the next
 * begins.
 */
import { adoptSource } from '../copies/adopt-source.ts';
import { removeSubscriber, subscribeToViews, unrefTimers } from '../subscribers.ts';
import { deriveSource, observeSource } from '../derived-source.ts';
import {
  addPart,
  getRemainingEffects,
  getEffectState,
  NO_EFFECT,
  UNOBSERVED,
  WRITE,
} from '../side-effects.ts';
import { isThenable } from '../validate.ts';
import type { CorrectableError } from '../errors.ts';
import { NO_RANK, getRank } from '../level-order.ts';
import type { AbortCallback, StepFunction } from './speculative-run.ts';
import { callInRun, COMMITTED, COMMITTING, RUNNING, SpeculativeRun } from './speculative-run.ts';
import type { Source } from '../source.ts';
import { interrupt, getExtras, failFromPart, failWith, abandon, setTimeLimit } from '../source.ts';
import { toCompositeError } from '../operation-error.ts';
import type { AnyView } from '../view.ts';

/** The result of a run so far: a view of a Correctable, or a value or failure of the run itself. */
interface RunOutcome<U> {
  readonly final?: boolean;
  readonly value?: U;
  /** The level of the result if it is a view. */
  readonly level?: string;
  readonly failed?: true;
  readonly error?: unknown;
}

/**
 * Runs `step` on the views of `source`. `abort` undoes the side effects of a run on a wrong input.
 * With `passErrors`, an error of the step is the result's error as it is (`chain`), otherwise
 * `SPECULATION_FAILED`.
 */
export class Speculation<T, U> {
  readonly result: Source<U>;
  readonly #step: StepFunction<T>;
  readonly #abort: AbortCallback<T, U> | undefined;
  readonly #passErrors: boolean | undefined;
  #live: SpeculativeRun<T, U> | undefined;
  /** The strongest view so far that has the value of the live run's input. */
  #input!: AnyView<T>;
  /** The result of the live run so far, and its preview that was delivered last. */
  #outcome: RunOutcome<U> | undefined;
  #previewLevel: string | undefined;
  #previewValue: U | undefined;
  /** The newest input, which waits until a run is undone. */
  #waiting: AnyView<T> | undefined;
  #undoing: Promise<void> | undefined;

  constructor(
    source: Source<T>,
    step: StepFunction<T>,
    abort?: AbortCallback<T, U>,
    passErrors?: boolean,
  ) {
    const result = (this.result = deriveSource<T, U>(source));
    this.#step = step;
    this.#abort = abort;
    this.#passErrors = passErrors;
    getExtras(result).futureEffects = UNOBSERVED;
    observeSource(
      source,
      result,
      (_value, view) => this.#acceptInput(view),
      (error) => this.#failAfterUndo(error),
      () => this.#close(),
    );
  }

  #acceptInput(view: AnyView<T>): void {
    const result = this.result;
    const live = this.#live;
    // The input of the live run is the view just before this one. `confirms` compares the same two
    // views.
    if (live && view.confirms) {
      this.#input = view;
      if (view.final) result.environment.count('speculationsWon');
      this.#deliver(live);
    } else {
      this.#waiting = view;
      if (live) {
        result.environment.count('speculationsLost');
        this.#refute();
      } else if (!this.#undoing) this.#begin();
    }
    if (!view.final) return;
    // No further step will begin. With `chain`, no effects can follow. With `speculate`, effects of
    // the live run may follow.
    if (this.#passErrors && this.#live) getExtras(result).futureEffects = NO_EFFECT;
    limitRemaining(result);
  }

  /** Begins a run on the newest input. */
  #begin(): void {
    const view = this.#waiting;
    this.#waiting = undefined;
    if (!view || this.result.state !== 'pending') return;
    const step = this.#step;
    const run = (this.#live = new SpeculativeRun<T, U>(view, this.result.environment));
    this.#input = view;
    this.#outcome = this.#previewLevel = undefined;
    try {
      const returned = callInRun(run, () => step(view.value, run as SpeculativeRun<T, never>));
      const inner = adoptSource<U>(returned);
      if (inner) this.#follow(run, inner);
      else if (isThenable(returned))
        returned.then(
          (value) => this.#take(run, { final: true, value: value as U }),
          this.#createErrorHandler(run),
        );
      else this.#take(run, { final: true, value: returned as U });
    } catch (error) {
      this.#take(run, { failed: true, error });
    }
  }

  /** Delivers the views of a Correctable that the step has returned. */
  #follow(run: SpeculativeRun<T, U>, inner: Source<U>): void {
    const result = this.result;
    addPart(result, inner);
    if (
      this.#passErrors &&
      !this.#abort &&
      !this.#input.final &&
      // Fail if the operation was begun by this step and may write later, or if one of its parts
      // writes.
      (inner.extras?.run === run ||
        (getEffectState(inner) || inner.extras?.futureEffects) === WRITE)
    ) {
      // The caller gets the error of the interruption. A failure of this operation must not be
      // reported as unhandled.
      inner.isObserved = true;
      return interrupt(result, 'UNKNOWN', 'a write on a preliminary view needs an undo');
    }
    const subscriber = subscribeToViews(
      inner,
      (_value, view) => this.#take(run, view),
      this.#createErrorHandler(run, inner),
      result,
    );
    run.stopListening = () => {
      removeSubscriber(inner, subscriber);
      getExtras(inner).isUndone = true;
    };
    if (result.extras?.isUnref) unrefTimers(inner);
  }

  #take(run: SpeculativeRun<T, U>, outcome: RunOutcome<U>): void {
    if (run !== this.#live) return;
    this.#outcome = outcome;
    this.#deliver(run);
  }

  /**
   * Returns the error handler of a run. If the effects of the run are not observed, the result
   * counts as one that may have taken effect, until the run fails with an error that rules out
   * effects.
   */
  #createErrorHandler(run: SpeculativeRun<T, U>, inner?: Source<U>): (error: unknown) => void {
    const result = this.result;
    const parts = inner ? getParts(inner) : [];
    const isKnown = inner && hasKnownEffects(inner);
    const { effectState } = result;
    if (!isKnown) result.effectState ||= UNOBSERVED;
    return (error) => {
      // Effects of operations that the step has invoked are still counted. Only the unobserved ones
      // are taken back.
      if (
        !isKnown &&
        run === this.#live &&
        !getRemainingEffects(error, UNOBSERVED) &&
        parts.every(hasKnownEffects)
      )
        result.effectState = effectState;
      this.#take(run, { failed: true, error });
    };
  }

  /**
   * Delivers the result of the live run so far. Its level is no stronger than its input, nor
   * stronger than its own level.
   */
  #deliver(run: SpeculativeRun<T, U>): void {
    const result = this.result;
    const { levelOrder } = result;
    const input = this.#input;
    const outcome = this.#outcome;
    if (!outcome || result.state !== 'pending') return;
    if (outcome.failed) return input.final ? this.#fail(outcome.error) : undefined;
    const value = outcome.value!;
    const own = getRank(levelOrder, outcome.level!);
    let rank = getRank(levelOrder, input.level);
    // A level of another binding cannot be compared with these levels. If the view is final, the
    // result has the level of the input. Otherwise it counts as the weakest level.
    rank = own !== NO_RANK ? Math.min(rank, own) : outcome.final ? rank : 0;
    if (input.final && outcome.final) {
      const finish = (): void => {
        run.phase = COMMITTED;
        result.view(value, levelOrder.all[rank]!, { final: true });
      };
      if (!run.commitHooks) return finish();
      run.phase = COMMITTING;
      result.effectState = WRITE;
      return void run
        .commit(this.#abort, value)
        .then(finish, (cause: unknown) => this.#fail(cause));
    }
    const { requested } = levelOrder;
    let at = requested.length - 2;
    // This ends when there is no weaker requested level: `undefined` has the rank `NO_RANK`, which
    // is never greater than `rank`.
    while (getRank(levelOrder, requested[at]!) > rank) at--;
    const level = requested[at];
    if (!level || (level === this.#previewLevel && Object.is(value, this.#previewValue))) return;
    this.#previewLevel = level;
    this.#previewValue = value;
    result.view(value, level);
  }

  #fail(cause: unknown): void {
    const result = this.result;
    if (this.#passErrors) failFromPart(result, cause);
    else abandon(result, 'SPECULATION_FAILED', 'failed on confirmed input; see cause', { cause });
  }

  /**
   * Undoes the live run, whose input was refuted or will never be confirmed. Then begins with the
   * newest input.
   */
  #refute(): void {
    const run = this.#live;
    if (!run) return;
    const result = this.result;
    this.#live = undefined;
    this.#undoing = callInRun(undefined, () => run.undo(this.#abort, this.#outcome?.value)).then(
      () => {
        this.#undoing = undefined;
        this.#begin();
      },
      (cause: unknown) => {
        this.#undoing = undefined;
        if (result.state !== 'pending') result.environment.reportUncaught(cause);
        else abandon(result, 'ABORT_HANDLER_FAILED', 'undoing failed; see cause', { cause });
      },
    );
  }

  /** Fails with the error of the source, once a live run is undone. */
  #failAfterUndo(error: CorrectableError): void {
    const result = this.result;
    this.#waiting = undefined;
    this.#refute();
    const finish = (): void => failWith(result, toCompositeError(result, error));
    if (!this.#undoing) return finish();
    limitRemaining(result);
    void this.#undoing.then(finish);
  }

  /** Undoes the live run if the result has failed before its effects began. */
  #close(): void {
    if (this.result.state === 'error' && this.#live?.phase === RUNNING) this.#refute();
    this.#live = undefined;
  }
}

/** Gives the result a deadline of its own. That of the source ends when the source closes. */
function limitRemaining<U>(result: Source<U>): void {
  const { dueAt } = result;
  if (dueAt === undefined || result.deadlines || result.state !== 'pending') return;
  setTimeLimit(result, Math.max(dueAt - result.environment.getTickTime(), 0));
}

/**
 * Returns whether the effects of a source are known. They are if it has closed, or if a client
 * submitted it and the effects of all its parts are known.
 */
function hasKnownEffects(source: ErasedSource): unknown {
  return (
    source.state !== 'pending' ||
    (source.environment.stats && getParts(source).every(hasKnownEffects))
  );
}

/** Returns the parts of a source. Every part is a source, although the types do not show it. */
function getParts({ extras }: ErasedSource): readonly ErasedSource[] {
  return (extras?.parts ?? []) as Source<unknown>[];
}

/** A source of any value. */
type ErasedSource = Pick<Source<unknown>, 'state' | 'environment' | 'extras'>;
