/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), rule by rule as in C8: at most one run
 * lives; a confirmed run is kept; a refuted one is undone before the next begins.
 */
import { leave, listenToAll, relax } from './audience.ts';
import { derive, observe } from './derive.ts';
import { addPart, doneDespite, doneOf, NOTHING, UNSEEN, UPDATE } from './effects.ts';
import { isThenable } from './given.ts';
import { NO_RANK, rankOf } from './ladder.ts';
import type { Abort, RunFunction } from './run.ts';
import { callAs, Run } from './run.ts';
import type { Source } from './source.ts';
import { caveatOf, extrasOf, failByPart, failWith, giveUp, limit, ofWhole, sourceOf } from './source.ts';
import type { AnyView } from './view.ts';

/** What a run has come to: a view, or a value or a failure of its own. */
interface Outcome<U> {
  readonly final?: boolean;
  readonly value?: U;
  /** Of a view. */
  readonly level?: string;
  readonly failed?: true;
  readonly error?: unknown;
}

/**
 * Runs `step` on the views of `source`; `abort` undoes the side effects of a run on a wrong input. With `passErrors`, an
 * error of the step is the result's error as it is (`chain`), otherwise `SPECULATION_FAILED`.
 */
export function speculate<T, U>(
  source: Source<T>,
  step: RunFunction<T>,
  abort?: Abort<T, U>,
  passErrors?: boolean,
): Source<U> {
  const result = derive<T, U>(source);
  const { environment, ladder } = result;
  let live: Run<T, U> | undefined;
  /** The strongest view so far that has the live run's input as its value. */
  let input: AnyView<T>;
  /** What the live run has come to so far, and the preview of it that was delivered last. */
  let outcome: Outcome<U> | undefined;
  let previewLevel: string | undefined;
  let previewValue: U | undefined;
  /** The newest input, which waits for the undoing of a run. */
  let waiting: AnyView<T> | undefined;
  let undoing: Promise<void> | undefined;

  const begin = (): void => {
    const view = waiting;
    waiting = undefined;
    if (!view || result.state !== 'updating') return;
    const run = (live = new Run<T, U>(view, environment));
    input = view;
    outcome = previewLevel = undefined;
    const take = (next: Outcome<U>): void => {
      if (run !== live) return;
      outcome = next;
      deliverOutcome(run);
    };
    const takeError = (error: unknown): void => take({ failed: true, error });
    /** Counts what the step does as unseen, until it fails with all that its result is made of. */
    const takeErrorOfUnseen = (parts: readonly Erased[] = []): typeof takeError => {
      const { done } = result;
      result.done ||= UNSEEN;
      return (error) => {
        // What a step says of itself counts.
        if (run === live && !doneDespite(error, UNSEEN) && parts.every(isSeen)) result.done = done;
        takeError(error);
      };
    };
    try {
      const returned = callAs(run, () => step(view.value, run as Run<T, never>));
      const inner = sourceOf<U>(returned);
      if (inner) {
        addPart(result, inner);
        if (passErrors && !abort && !view.final && (doneOf(inner) || inner.extras?.steps) === UPDATE) {
          // It has its own end, which nobody hears of any more.
          inner.observed = true;
          return giveUp(result, 'UNKNOWN', `an update on a preliminary view needs an undo${caveatOf(UPDATE)}`);
        }
        const onError = isSeen(inner) ? takeError : takeErrorOfUnseen(partsOf(inner));
        const seat = listenToAll(inner, (_value, innerView) => take(innerView), onError, result);
        run.stop = () => {
          leave(inner, seat);
          extrasOf(inner).undone = true;
        };
        if (result.extras?.isRelaxed) relax(inner);
      } else if (isThenable(returned)) {
        returned.then((value) => take({ final: true, value: value as U }), takeErrorOfUnseen());
      } else take({ final: true, value: returned as U });
    } catch (error) {
      takeError(error);
    }
  };

  /** Undoes a run whose input was refuted or will never be confirmed; then begins on the newest input. */
  const refute = (run: Run<T, U>): void => {
    live = undefined;
    undoing = callAs(undefined, () => run.undo(abort, outcome?.value)).then(
      () => {
        undoing = undefined;
        begin();
      },
      (cause: unknown) => {
        undoing = undefined;
        if (result.state !== 'updating') environment.uncaught(cause);
        else giveUp(result, 'ABORT_HANDLER_FAILED', 'undoing failed; see cause', { cause });
      },
    );
  };

  /** Delivers what is known of the live run's result: no stronger than what it was made of, nor than it says itself. */
  const deliverOutcome = (run: Run<T, U>): void => {
    if (!outcome || result.state !== 'updating') return;
    const { final } = outcome;
    if (outcome.failed) return input.final ? fail(outcome.error) : undefined;
    const value = outcome.value!;
    const own = rankOf(ladder, outcome.level!);
    let rank = rankOf(ladder, input.level);
    // A level of another binding says only whether it is the last: the weakest claim, or none.
    rank = own !== NO_RANK ? Math.min(rank, own) : final ? rank : 0;
    if (input.final && final) {
      const finish = (): void => {
        run.phase = 'committed';
        result.update(value, ladder.all[rank]!, { final: true });
      };
      if (!run.effects) return finish();
      run.phase = 'committing';
      result.done = UPDATE;
      return void run.commit(abort, value).then(finish, fail);
    }
    const { requested } = ladder;
    let at = requested.length - 2;
    // At the latest where there is none: no rank is below that of no level.
    while (rankOf(ladder, requested[at]!) > rank) at--;
    const level = requested[at];
    if (level === undefined || (level === previewLevel && Object.is(value, previewValue))) return;
    previewLevel = level;
    previewValue = value;
    result.update(value, level);
  };

  const fail = (cause: unknown): void => {
    if (passErrors) failByPart(result, cause);
    else giveUp(result, 'SPECULATION_FAILED', 'failed on confirmed input; see cause', { cause });
  };

  /** The source no longer guards the deadline once it has closed: from there on the result has one of its own. */
  const limitRemaining = (): void => {
    const { dueAt } = result;
    if (dueAt === undefined || result.deadlines || result.state !== 'updating') return;
    limit(result, Math.max(dueAt - environment.tickAt(), 0));
  };

  extrasOf(result).steps = UNSEEN;
  observe(
    source,
    result,
    (_value, view) => {
      // The input of what runs is the view just before: whether they are equal has been asked.
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
      // The last step has begun; of `speculate`, effects may still come.
      if (passErrors && live) extrasOf(result).steps = NOTHING;
      limitRemaining();
    },
    (error) => {
      waiting = undefined;
      if (live) refute(live);
      const finish = (): void => failWith(result, ofWhole(result, error));
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

/** Whether it has ended, or clients submitted it, with all that it is made of: of all else nobody knows what it does. */
function isSeen(source: Erased): boolean {
  return source.state !== 'updating' || (!!source.environment.counters && partsOf(source).every(isSeen));
}

/** All parts are sources. */
function partsOf({ extras }: Erased): readonly Erased[] {
  return (extras?.parts ?? []) as Source<unknown>[];
}

/** A source of whatever value. */
type Erased = Pick<Source<unknown>, 'state' | 'environment' | 'extras'>;
