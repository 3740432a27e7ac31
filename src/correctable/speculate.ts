/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), rule by rule as in C8: at most one run
 * lives; a confirmed run is kept; a refuted one is undone before the next begins.
 */
import { leave, listenToAll } from './audience.ts';
import { derive, observe } from './derive.ts';
import { rankOf } from './ladder.ts';
import type { Abort, RunFunction } from './run.ts';
import { inOrder, Run } from './run.ts';
import type { Source } from './source.ts';
import { close, failWith, isEqual, limit, onClose } from './source.ts';
import { sourceOf } from './source-of.ts';
import { isThenable } from './values.ts';
import type { AnyView } from './view.ts';

export interface SpeculateOptions<T, U> {
  readonly run: RunFunction<T>;
  /** Undoes the side effects of a run on a wrong input. */
  readonly abort?: Abort<T, U> | undefined;
  /** Whether an error of the function is the result's error as it is (`chain`) or `SPECULATION_FAILED`. */
  readonly passErrors?: boolean;
}

export function speculate<T, U>(source: Source<T>, options: SpeculateOptions<T, U>): Source<U> {
  const result = derive<T, U>(source);
  const { environment } = result;
  let live: Run<T, U> | undefined;
  /** The newest input, which waits for the undoing of a run. */
  let waiting: AnyView<T> | undefined;
  let undoing: Promise<void> | undefined;
  let seen: AnyView<T> | undefined;

  function begin(): void {
    const view = waiting;
    waiting = undefined;
    if (!view || result.state !== 'updating') return;
    const run = (live = new Run<T, U>(view, environment));
    const give = (value: unknown, final = true, level?: string): void => {
      if (run !== live) return;
      run.value = value as U;
      run.level = final ? undefined : level;
      run.outcome = final ? 'final' : 'value';
      tell(run, result, options);
    };
    const fail = (error: unknown): void => {
      if (run !== live) return;
      run.value = undefined;
      run.error = error;
      run.outcome = 'error';
      tell(run, result, options);
    };
    try {
      const given = options.run(view.value, run);
      const inner = sourceOf(given);
      if (inner) {
        const seat = listenToAll(inner, (value, { final, level }) => give(value, final, level), fail);
        run.stop = () => leave(inner, seat);
      } else if (isThenable(given)) given.then((value) => give(value), fail);
      else give(given);
    } catch (error) {
      fail(error);
    }
  }

  /** Undoes the live run, whose input was refuted or will never be confirmed; then begins on the newest input. */
  function refute(run: Run<T, U>): void {
    live = undefined;
    undoing = run.undo(options.abort).then(
      () => {
        undoing = undefined;
        begin();
      },
      (cause: unknown) => {
        undoing = undefined;
        if (result.state !== 'updating') environment.uncaught(cause);
        else close(result, 'ABORT_HANDLER_FAILED', 'Undoing a run failed; see cause', { cause });
      },
    );
  }

  onClose(result, () => {
    waiting = undefined;
    if (result.state === 'error' && live?.phase === 'running') refute(live);
    live = undefined;
  });
  observe(
    source,
    result,
    (value, view) => {
      // Equality is asked once per view: by the source, where the run's input is the view just before.
      const holds = live && (live.input === seen ? view.confirms : isEqual(source, value, live.input.value));
      seen = view;
      if (live && holds) {
        live.input = view;
        tell(live, result, options);
      } else {
        waiting = view;
        if (live) refute(live);
        else if (!undoing) begin();
      }
      if (view.final) limitRest(result);
    },
    (error) => {
      waiting = undefined;
      if (live) refute(live);
      if (!undoing) failWith(result, error);
      else {
        limitRest(result);
        void undoing.then(() => failWith(result, error));
      }
    },
  );
  return result;
}

/** Says what is known of the live run's result, at the level that its input supports. */
function tell<T, U>(run: Run<T, U>, result: Source<U>, options: SpeculateOptions<T, U>): void {
  const { input, outcome, effects } = run;
  const value = run.value!;
  if (outcome === 'none' || result.state !== 'updating') return;
  if (outcome === 'error') {
    if (input.final) failRun(run.error, result, options);
  } else if (input.final && outcome === 'final') {
    const finish = (): void => void result.update(value, input.level);
    run.phase = 'committing';
    if (effects) inOrder(effects).then(finish, (error: unknown) => failRun(error, result, options));
    else finish();
  } else {
    const level = previewLevel(run, result);
    if (level === undefined || (level === run.toldLevel && Object.is(value, run.toldValue))) return;
    run.toldLevel = level;
    run.toldValue = value;
    result.update(value, level);
  }
}

/** The strongest level of a preview that input and result support. */
function previewLevel<T, U>({ input, level }: Run<T, U>, { ladder }: Source<U>): string | undefined {
  // A level of another binding says only "preliminary": the weakest claim.
  const own = level === undefined ? Infinity : Math.max(rankOf(ladder, level), 0);
  const rank = Math.min(rankOf(ladder, input.level), own);
  return ladder.requested.slice(0, -1).findLast((name) => rankOf(ladder, name) <= rank);
}

function failRun<T, U>(cause: unknown, result: Source<U>, { passErrors }: SpeculateOptions<T, U>): void {
  if (passErrors) result.fail(cause);
  else close(result, 'SPECULATION_FAILED', 'Failed on a confirmed input; see cause', { cause });
}

/** The source no longer guards the deadline once it has closed: from there on the result has one of its own. */
function limitRest<U>(result: Source<U>): void {
  const { deadlineAt, deadlines, state, environment } = result;
  if (deadlineAt === undefined || deadlines || state !== 'updating') return;
  limit(result, Math.max(deadlineAt - environment.tickAt(), 0));
}
