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
import { NO_RANK, getRank } from '../level-order.ts';
import type { AbortCallback, StepFunction } from './speculative-run.ts';
import { callInRun, SpeculativeRun } from './speculative-run.ts';
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
 * Runs `step` on the views of `source`; `abort` undoes the side effects of a run on a wrong input.
 * With `passErrors`, an error of the step is the result's error as it is (`chain`), otherwise
 * `SPECULATION_FAILED`.
 */
export function speculateOnSource<T, U>(
  source: Source<T>,
  step: StepFunction<T>,
  abort?: AbortCallback<T, U>,
  passErrors?: boolean,
): Source<U> {
  const result = deriveSource<T, U>(source);
  const { environment, levelOrder } = result;
  let live: SpeculativeRun<T, U> | undefined;
  /** The strongest view so far that has the value of the live run's input. */
  let input: AnyView<T>;
  /** The result of the live run so far, and its preview that was delivered last. */
  let outcome: RunOutcome<U> | undefined;
  let previewLevel: string | undefined;
  let previewValue: U | undefined;
  /** The newest input, which waits until a run is undone. */
  let waiting: AnyView<T> | undefined;
  let undoing: Promise<void> | undefined;

  const begin = (): void => {
    const view = waiting;
    waiting = undefined;
    if (!view || result.state !== 'pending') return;
    const run = (live = new SpeculativeRun<T, U>(view, environment));
    input = view;
    outcome = previewLevel = undefined;
    const take = (next: RunOutcome<U>): void => {
      if (run !== live) return;
      outcome = next;
      deliverOutcome(run);
    };
    const takeError = (error: unknown): void => take({ failed: true, error });
    /**
     * Returns the error handler for a run whose effects are not observed. Until the run fails, the
     * result counts as one that may have taken effect. If the run fails with an error that rules
     * out effects, that is taken back.
     */
    const takeErrorOfUnseen = (parts: readonly ErasedSource[] = []): typeof takeError => {
      const { effectState } = result;
      result.effectState ||= UNOBSERVED;
      return (error) => {
        // Effects of operations that the step has invoked are still counted. Only the unobserved
        // ones are taken back.
        if (run === live && !getRemainingEffects(error, UNOBSERVED) && parts.every(hasKnownEffects))
          result.effectState = effectState;
        takeError(error);
      };
    };
    try {
      const returned = callInRun(run, () => step(view.value, run as SpeculativeRun<T, never>));
      const inner = adoptSource<U>(returned);
      if (inner) {
        addPart(result, inner);
        if (
          passErrors &&
          !abort &&
          !view.final &&
          // Fail if the operation was begun by this step and may write later, or if one of its
          // parts writes.
          (inner.extras?.run === run ||
            (getEffectState(inner) || inner.extras?.futureEffects) === WRITE)
        ) {
          // The caller gets the error of the interruption. A failure of this operation must not be
          // reported as unhandled.
          inner.isObserved = true;
          return interrupt(result, 'UNKNOWN', 'a write on a preliminary view needs an undo');
        }
        const onError = hasKnownEffects(inner) ? takeError : takeErrorOfUnseen(getParts(inner));
        const subscriber = subscribeToViews(
          inner,
          (_value, innerView) => take(innerView),
          onError,
          result,
        );
        run.stopListening = () => {
          removeSubscriber(inner, subscriber);
          getExtras(inner).isUndone = true;
        };
        if (result.extras?.isUnref) unrefTimers(inner);
      } else if (isThenable(returned)) {
        returned.then((value) => take({ final: true, value: value as U }), takeErrorOfUnseen());
      } else take({ final: true, value: returned as U });
    } catch (error) {
      takeError(error);
    }
  };

  /**
   * Undoes a run whose input was refuted or will never be confirmed. Then begins with the newest
   * input.
   */
  const refute = (run: SpeculativeRun<T, U>): void => {
    live = undefined;
    undoing = callInRun(undefined, () => run.undo(abort, outcome?.value)).then(
      () => {
        undoing = undefined;
        begin();
      },
      (cause: unknown) => {
        undoing = undefined;
        if (result.state !== 'pending') environment.reportUncaught(cause);
        else
          abandon(result, 'ABORT_HANDLER_FAILED', 'undoing failed; see cause', {
            cause,
          });
      },
    );
  };

  /**
   * Delivers the result of the live run so far. Its level is no stronger than its input, nor
   * stronger than its own level.
   */
  const deliverOutcome = (run: SpeculativeRun<T, U>): void => {
    if (!outcome || result.state !== 'pending') return;
    const { final } = outcome;
    if (outcome.failed) return input.final ? fail(outcome.error) : undefined;
    const value = outcome.value!;
    const own = getRank(levelOrder, outcome.level!);
    let rank = getRank(levelOrder, input.level);
    // A level of another binding cannot be compared with these levels. If the view is final, the
    // result has the level of the input. Otherwise it counts as the weakest level.
    rank = own !== NO_RANK ? Math.min(rank, own) : final ? rank : 0;
    if (input.final && final) {
      const finish = (): void => {
        run.phase = 'committed';
        result.view(value, levelOrder.all[rank]!, { final: true });
      };
      if (!run.commitHooks) return finish();
      run.phase = 'committing';
      result.effectState = WRITE;
      return void run.commit(abort, value).then(finish, fail);
    }
    const { requested } = levelOrder;
    let at = requested.length - 2;
    // This ends when there is no weaker requested level: `undefined` has the rank `NO_RANK`, which
    // is never greater than `rank`.
    while (getRank(levelOrder, requested[at]!) > rank) at--;
    const level = requested[at];
    if (level === undefined || (level === previewLevel && Object.is(value, previewValue))) return;
    previewLevel = level;
    previewValue = value;
    result.view(value, level);
  };

  const fail = (cause: unknown): void => {
    if (passErrors) failFromPart(result, cause);
    else abandon(result, 'SPECULATION_FAILED', 'failed on confirmed input; see cause', { cause });
  };

  /**
   * Gives the result a deadline of its own. The deadline of the source ends when the source closes.
   */
  const limitRemaining = (): void => {
    const { dueAt } = result;
    if (dueAt === undefined || result.deadlines || result.state !== 'pending') return;
    setTimeLimit(result, Math.max(dueAt - environment.getTickTime(), 0));
  };

  getExtras(result).futureEffects = UNOBSERVED;
  observeSource(
    source,
    result,
    (_value, view) => {
      // The input of the live run is the view just before this one. `confirms` compares the same
      // two views.
      if (live && view.confirms) {
        input = view;
        if (view.final) environment.count('speculationsWon');
        deliverOutcome(live);
      } else {
        waiting = view;
        if (live) {
          environment.count('speculationsLost');
          refute(live);
        } else if (!undoing) begin();
      }
      if (!view.final) return;
      // No further step will begin. With `chain`, no effects can follow. With `speculate`, effects
      // of the live run may follow.
      if (passErrors && live) getExtras(result).futureEffects = NO_EFFECT;
      limitRemaining();
    },
    (error) => {
      waiting = undefined;
      if (live) refute(live);
      const finish = (): void => failWith(result, toCompositeError(result, error));
      if (!undoing) return finish();
      limitRemaining();
      void undoing.then(finish);
    },
    () => {
      waiting = undefined;
      if (result.state === 'error' && live?.phase === 'running') refute(live);
      live = undefined;
    },
  );
  return result;
}

/**
 * Returns whether the effects of a source are known. They are if it has closed, or if a client
 * submitted it and the effects of all its parts are known.
 */
function hasKnownEffects(source: ErasedSource): boolean {
  return (
    source.state !== 'pending' ||
    (!!source.environment.stats && getParts(source).every(hasKnownEffects))
  );
}

/** Returns the parts of a source. Every part is a source, although the types do not show it. */
function getParts({ extras }: ErasedSource): readonly ErasedSource[] {
  return (extras?.parts ?? []) as Source<unknown>[];
}

/** A source of any value. */
type ErasedSource = Pick<Source<unknown>, 'state' | 'environment' | 'extras'>;
