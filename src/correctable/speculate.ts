/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), rule by rule as in C8: at most one run
 * lives; a confirmed run is kept; a refuted one is undone before the next begins.
 */
import type { CorrectableError } from './errors.ts';
import { derive } from './derive.ts';
import type { Timer } from './clock.ts';
import type { Listener } from './listener.ts';
import { listenTo } from './listener.ts';
import type { RawScope } from './run.ts';
import { Run } from './run.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

export type { RawScope } from './run.ts';

export interface SpeculateOptions<T, U> {
  /** Undoes the side effects of a run on a wrong input. */
  readonly abort?: ((input: T, result: U | undefined) => void | PromiseLike<void>) | undefined;
  /** Whether an error of the function is the result's error as it is (`chain`) or `SPECULATION_FAILED`. */
  readonly passErrors?: boolean;
}

type RunFunction<T> = (value: T, scope: RawScope<T>) => unknown;

class Speculator<T, U> {
  readonly #source: Source<T>;
  readonly #derived: Source<U>;
  readonly #run: RunFunction<T>;
  readonly #options: SpeculateOptions<T, U>;
  readonly #listener: Listener<T> = listenTo(
    (view) => this.#onView(view),
    (error) => this.#onFailure(error),
  );
  #live: Run<T, U> | undefined;
  /** The newest input, which waits for the undoing of a run. */
  #waiting: AnyView<T> | undefined;
  #undoing: Promise<void> | undefined;
  #seen: AnyView<T> | undefined;
  #timer: Timer | undefined;

  constructor(source: Source<T>, derived: Source<U>, run: RunFunction<T>, options: SpeculateOptions<T, U>) {
    this.#source = source;
    this.#derived = derived;
    this.#run = run;
    this.#options = options;
    derived.onClose(() => this.#onClosed());
  }

  start(): void {
    this.#source.join(this.#listener);
  }

  #onView(view: AnyView<T>): void {
    const live = this.#live;
    if (live !== undefined && this.#isInputOf(live, view)) {
      this.#seen = view;
      live.inputView = view;
      this.#publish(live);
    } else {
      this.#seen = view;
      this.#waiting = view;
      if (live !== undefined) this.#undo(live);
      else if (this.#undoing === undefined) this.#startWaiting();
    }
    if (view.final) this.#limit();
  }

  #onFailure(error: CorrectableError): void {
    this.#waiting = undefined;
    if (this.#live !== undefined) this.#undo(this.#live);
    if (this.#undoing === undefined) {
      this.#derived.failWith(error);
      return;
    }
    this.#limit();
    void this.#undoing.then(() => this.#derived.failWith(error));
  }

  /** Equality is asked once per view: by the source, where the run's input is the view just before. */
  #isInputOf(live: Run<T, U>, view: AnyView<T>): boolean {
    return live.inputView === this.#seen ? view.confirms : this.#source.isEqual(view.value, live.inputView.value);
  }

  #startWaiting(): void {
    const view = this.#waiting;
    if (view === undefined || this.#derived.state !== 'updating') return;
    this.#waiting = undefined;
    const run = new Run<T, U>(view, this.#source.environment, () => this.#publish(run));
    this.#live = run;
    run.start(this.#run);
  }

  /** Says what is known of the live run's result, at the level that its input supports. */
  #publish(run: Run<T, U>): void {
    if (run !== this.#live || this.#derived.state !== 'updating') return;
    const { inputView, outcome } = run;
    if (outcome === undefined) return;
    if ('error' in outcome) {
      if (inputView.final) this.#failWithRun(outcome.error);
      return;
    }
    if (inputView.final && outcome.final) {
      this.#commit(run, outcome.value);
      return;
    }
    const level = this.#levelOf(inputView, outcome.final ? undefined : outcome.level);
    if (level !== undefined && run.isNews(outcome.value, level)) this.#derived.update(outcome.value, level);
  }

  #levelOf(input: AnyView<T>, resultLevel: string | undefined): string | undefined {
    const { ladder } = this.#source;
    const inputRank = ladder.rankOf(input.level);
    if (resultLevel === undefined) return ladder.preliminaryAt(inputRank);
    const resultRank = ladder.rankOf(resultLevel);
    // A level of another binding says only "preliminary": the weakest claim.
    return ladder.preliminaryAt(Math.min(inputRank, Math.max(resultRank, 0)));
  }

  #commit(run: Run<T, U>, value: U): void {
    const level = run.inputView.level;
    const committing = run.commit();
    if (committing === undefined) {
      this.#derived.update(value, level);
      return;
    }
    committing.then(
      () => this.#derived.update(value, level),
      (error: unknown) => this.#failWithRun(error),
    );
  }

  #failWithRun(error: unknown): void {
    if (this.#options.passErrors === true) this.#derived.fail(error);
    else this.#derived.close('SPECULATION_FAILED', 'The speculation failed on a confirmed input; see cause', error);
  }

  /** Undoes a run whose input was refuted or will never be confirmed, then starts on the newest input. */
  #undo(run: Run<T, U>): void {
    this.#live = undefined;
    this.#undoing = run.undo(this.#options.abort).then(
      () => {
        this.#undoing = undefined;
        this.#startWaiting();
      },
      (error: unknown) => {
        this.#undoing = undefined;
        if (this.#derived.state !== 'updating') this.#source.environment.uncaught(error);
        else this.#derived.close('ABORT_HANDLER_FAILED', 'Undoing a refuted speculation failed; see cause', error);
      },
    );
  }

  /** The source no longer guards the deadline once it has closed: from there on the result has a timer of its own. */
  #limit(): void {
    const { deadlineAt, state, environment } = this.#derived;
    if (deadlineAt === undefined || state !== 'updating' || this.#timer !== undefined) return;
    const remainingMs = Math.max(deadlineAt - environment.clock.now(), 0);
    this.#timer = environment.clock.setTimer(() => this.#derived.expire(), remainingMs);
  }

  #onClosed(): void {
    this.#timer?.cancel();
    this.#source.leave(this.#listener);
    this.#waiting = undefined;
    const live = this.#live;
    this.#live = undefined;
    if (this.#derived.state === 'error' && live?.mayBeUndone === true) this.#undo(live);
  }
}

export function speculate<T, U>(source: Source<T>, run: RunFunction<T>, options: SpeculateOptions<T, U>): Source<U> {
  const derived = derive<T, U>(source);
  new Speculator<T, U>(source, derived, run, options).start();
  return derived;
}
