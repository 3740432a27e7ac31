/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), rule by rule as in C8: at most one run
 * lives; a confirmed run is kept; a refuted one is undone before the next begins.
 */
import { leave, listenToAll } from './audience.ts';
import { derive, observe } from './derive.ts';
import { addPart, doneDespite, doneOf, NOTHING, UNSEEN, UPDATE } from './effects.ts';
import type { CorrectableError } from './errors.ts';
import { isThenable } from './given.ts';
import type { Ladder } from './ladder.ts';
import { NO_RANK, rankOf } from './ladder.ts';
import type { Abort, Outcome, RunFunction } from './run.ts';
import { callAs, Run } from './run.ts';
import type { Source } from './source.ts';
import { CAVEAT, extrasOf, failByPart, failWith, giveUp, limit, ofWhole, relax, sourceOf } from './source.ts';
import type { AnyView } from './view.ts';

export interface SpeculateOptions<T, U> {
  readonly run: RunFunction<T>;
  /** Undoes the side effects of a run on a wrong input. */
  readonly abort?: Abort<T, U> | undefined;
  /** Whether an error of the function is the result's error as it is (`chain`) or `SPECULATION_FAILED`. */
  readonly passErrors?: boolean | undefined;
}

/** What nobody undoes when the final differs would stay done. */
const NEEDS_UNDO = 'an update on a preliminary view needs an undo';

/** A speculation under way. */
interface Speculation<T, U> extends SpeculateOptions<T, U> {
  readonly result: Source<U>;
  live: Run<T, U> | undefined;
  /** The newest input, which waits for the undoing of a run. */
  waiting: AnyView<T> | undefined;
  undoing: Promise<void> | undefined;
}

export function speculate<T, U>(source: Source<T>, { run, abort, passErrors }: SpeculateOptions<T, U>): Source<U> {
  const result = derive<T, U>(source);
  const speculation: Speculation<T, U> = {
    result,
    run,
    abort,
    passErrors,
    live: undefined,
    waiting: undefined,
    undoing: undefined,
  };
  extrasOf(result).steps = UNSEEN;
  observe(
    source,
    result,
    (_value, view) => onView(speculation, view),
    (error) => onError(speculation, error),
    () => onClosed(speculation),
  );
  return result;
}

function onView<T, U>(speculation: Speculation<T, U>, view: AnyView<T>): void {
  const { result, live, undoing, passErrors } = speculation;
  const { counters } = result.environment;
  // The input of what runs is the view just before: whether they are equal has been asked.
  if (live && view.confirms) {
    live.input = view;
    if (view.final && counters) counters.speculationsWon++;
    tell(speculation, live);
  } else {
    speculation.waiting = view;
    if (live) {
      if (counters) counters.speculationsLost++;
      refute(speculation, live);
    } else if (!undoing) begin(speculation);
  }
  if (!view.final) return;
  // The last step has begun; of `speculate`, effects may still come.
  if (passErrors && speculation.live) extrasOf(result).steps = NOTHING;
  limitRest(result);
}

function onError<T, U>(speculation: Speculation<T, U>, error: CorrectableError): void {
  const { result, live } = speculation;
  speculation.waiting = undefined;
  if (live) refute(speculation, live);
  const { undoing } = speculation;
  const finish = (): void => failWith(result, ofWhole(result, error));
  if (!undoing) finish();
  else {
    limitRest(result);
    void undoing.then(finish);
  }
}

function onClosed<T, U>(speculation: Speculation<T, U>): void {
  const { result, live } = speculation;
  speculation.waiting = speculation.live = undefined;
  if (result.state === 'error' && live?.phase === 'running') refute(speculation, live);
}

function begin<T, U>(speculation: Speculation<T, U>): void {
  const { result, waiting: view, abort, passErrors } = speculation;
  speculation.waiting = undefined;
  if (!view || result.state !== 'updating') return;
  const run = (speculation.live = new Run<T, U>(view, result.environment));
  const take = (outcome: Outcome<U>): void => {
    if (run !== speculation.live) return;
    run.outcome = outcome;
    tell(speculation, run);
  };
  const fail = (error: unknown): void => take({ failed: true, error });
  /** Counts what the step does as unseen, until it fails with all that its result is made of. */
  const failUnseen = (parts: readonly Erased[] = []): ((error: unknown) => void) => {
    const { done } = result;
    result.done ||= UNSEEN;
    return (error) => {
      // What a step says of itself counts.
      if (run === speculation.live && !doneDespite(error, UNSEEN) && parts.every(isSeen)) result.done = done;
      fail(error);
    };
  };
  try {
    const given = run.call(speculation.run);
    const inner = sourceOf<U>(given);
    if (inner) {
      addPart(result, inner);
      if (passErrors && !abort && !view.final && (doneOf(inner) || inner.extras?.steps) === UPDATE) {
        // It has its own end, which nobody hears of any more.
        inner.observed = true;
        return giveUp(result, 'UNKNOWN', NEEDS_UNDO + CAVEAT);
      }
      const failed = isSeen(inner) ? fail : failUnseen(partsOf(inner));
      const seat = listenToAll(inner, (_value, view) => take(view), failed, result);
      run.stop = () => {
        leave(inner, seat);
        extrasOf(inner).undone = true;
      };
      if (result.extras?.onListener) relax(inner);
    } else if (isThenable(given)) given.then((value) => take({ final: true, value: value as U }), failUnseen());
    else take({ final: true, value: given as U });
  } catch (error) {
    fail(error);
  }
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

/** Undoes a run whose input was refuted or will never be confirmed; then begins on the newest input. */
function refute<T, U>(speculation: Speculation<T, U>, run: Run<T, U>): void {
  const { result, abort } = speculation;
  speculation.live = undefined;
  speculation.undoing = callAs(undefined, () => run.undo(abort)).then(
    () => {
      speculation.undoing = undefined;
      begin(speculation);
    },
    (cause: unknown) => {
      speculation.undoing = undefined;
      if (result.state !== 'updating') result.environment.uncaught(cause);
      else giveUp(result, 'ABORT_HANDLER_FAILED', 'undoing failed; see cause', { cause });
    },
  );
}

/** Says what is known of the live run's result, at the level that its input supports. */
function tell<T, U>(speculation: Speculation<T, U>, run: Run<T, U>): void {
  const { result, abort } = speculation;
  const { input, outcome, effects } = run;
  if (!outcome || result.state !== 'updating') return;
  const value = outcome.value!;
  if (outcome.failed) {
    if (input.final) fail(speculation, outcome.error);
  } else if (input.final && outcome.final) {
    const level = result.ladder.all[supportedRank(result.ladder, input, outcome)]!;
    if (effects) {
      run.phase = 'committing';
      result.done = UPDATE;
      run.commit(abort).then(
        () => void result.update(value, level, FINAL),
        (error: unknown) => fail(speculation, error),
      );
    } else {
      run.phase = 'committed';
      result.update(value, level, FINAL);
    }
  } else {
    const level = previewLevel(result.ladder, input, outcome);
    if (level === undefined || (level === run.toldLevel && Object.is(value, run.toldValue))) return;
    run.toldLevel = level;
    run.toldValue = value;
    result.update(value, level);
  }
}

const FINAL = { final: true };

/** The strongest level of a preview that its input and, where it has a level of its own, its value support. */
function previewLevel<T, U>(ladder: Ladder, input: AnyView<T>, outcome: Outcome<U>): string | undefined {
  const rank = supportedRank(ladder, input, outcome);
  const { requested } = ladder;
  let at = requested.length - 2;
  // At the latest where there is none: no rank is below that of no level.
  while (rankOf(ladder, requested[at]!) > rank) at--;
  return requested[at];
}

/** A result is no stronger than what it was made of, nor than it says itself. */
function supportedRank<T, U>(ladder: Ladder, input: AnyView<T>, { final, level }: Outcome<U>): number {
  const own = rankOf(ladder, level!);
  const rank = rankOf(ladder, input.level);
  // A level of another binding says only whether it is the last: the weakest claim, or none.
  return own === NO_RANK ? (final ? rank : 0) : Math.min(rank, own);
}

function fail<T, U>({ result, passErrors }: Speculation<T, U>, cause: unknown): void {
  if (passErrors) failByPart(result, cause);
  else giveUp(result, 'SPECULATION_FAILED', 'failed on confirmed input; see cause', { cause });
}

/** The source no longer guards the deadline once it has closed: from there on the result has one of its own. */
function limitRest<U>(result: Source<U>): void {
  const { dueAt, deadlines, state, environment } = result;
  if (dueAt === undefined || deadlines || state !== 'updating') return;
  limit(result, Math.max(dueAt - environment.tickAt(), 0));
}
