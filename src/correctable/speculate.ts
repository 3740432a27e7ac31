/**
 * Speculation on preliminary views (Correctables, OSDI 2016, §4.2, Listing 3), rule by rule as in C8: at most one run
 * lives; a confirmed run is kept; a refuted one is undone before the next begins.
 */
import { Derived } from './derive.ts';
import type { CorrectableError } from './errors.ts';
import type { RawScope, RunOwner } from './run.ts';
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

class Speculated<T, U> extends Derived<T, U> implements RunOwner<T, U> {
  readonly #run: RunFunction<T>;
  readonly #settings: SpeculateOptions<T, U>;
  #live: Run<T, U> | undefined = undefined;
  /** The newest input, which waits for the undoing of a run. */
  #waiting: AnyView<T> | undefined = undefined;
  #undoing: Promise<void> | undefined = undefined;
  #seen: AnyView<T> | undefined = undefined;

  constructor(source: Source<T>, run: RunFunction<T>, settings: SpeculateOptions<T, U>) {
    super(source);
    this.#run = run;
    this.#settings = settings;
  }

  onView(view: AnyView<T>): void {
    const live = this.#live;
    const holds = live !== undefined && this.#isInputOf(live, view);
    this.#seen = view;
    if (holds) {
      live.inputView = view;
      this.onOutcome(live);
    } else {
      this.#waiting = view;
      if (live !== undefined) this.#undo(live);
      else if (this.#undoing === undefined) this.#startWaiting();
    }
    if (view.final) this.#limitRest();
  }

  override onFailure(error: CorrectableError): void {
    this.#waiting = undefined;
    if (this.#live !== undefined) this.#undo(this.#live);
    if (this.#undoing === undefined) {
      this.failWith(error);
      return;
    }
    this.#limitRest();
    void this.#undoing.then(() => this.failWith(error));
  }

  /** Says what is known of the live run's result, at the level that its input supports. */
  onOutcome(run: Run<T, U>): void {
    const { inputView, outcome } = run;
    if (run !== this.#live || this.state !== 'updating' || outcome === 'none') return;
    if (outcome === 'error') {
      if (inputView.final) this.#failWithRun(run.error);
    } else if (inputView.final && outcome === 'final') this.#commit(run, run.value!);
    else {
      const level = this.#levelOf(inputView, outcome === 'final' ? undefined : run.level);
      if (level !== undefined && run.isNewsAt(level)) this.update(run.value!, level);
    }
  }

  uncaught(error: unknown): void {
    this.environment.uncaught(error);
  }

  protected override onClosed(): void {
    super.onClosed();
    this.#waiting = undefined;
    const live = this.#live;
    this.#live = undefined;
    if (this.state === 'error' && live?.mayBeUndone === true) this.#undo(live);
  }

  /** Equality is asked once per view: by the source, where the run's input is the view just before. */
  #isInputOf(live: Run<T, U>, view: AnyView<T>): boolean {
    return live.inputView === this.#seen ? view.confirms : this.source.isEqual(view.value, live.inputView.value);
  }

  #startWaiting(): void {
    const view = this.#waiting;
    if (view === undefined || this.state !== 'updating') return;
    this.#waiting = undefined;
    this.#live = new Run<T, U>(view, this);
    this.#live.start(this.#run);
  }

  #levelOf(input: AnyView<T>, resultLevel: string | undefined): string | undefined {
    const { ladder } = this;
    const inputRank = ladder.rankOf(input.level);
    if (resultLevel === undefined) return ladder.preliminaryAt(inputRank);
    // A level of another binding says only "preliminary": the weakest claim.
    return ladder.preliminaryAt(Math.min(inputRank, Math.max(ladder.rankOf(resultLevel), 0)));
  }

  #commit(run: Run<T, U>, value: U): void {
    const { level } = run.inputView;
    const committing = run.commit();
    if (committing === undefined) {
      this.update(value, level);
      return;
    }
    committing.then(
      () => this.update(value, level),
      (error: unknown) => this.#failWithRun(error),
    );
  }

  #failWithRun(error: unknown): void {
    if (this.#settings.passErrors === true) this.fail(error);
    else this.close('SPECULATION_FAILED', 'The speculation failed on a confirmed input; see cause', error);
  }

  /** Undoes a run whose input was refuted or will never be confirmed, then starts on the newest input. */
  #undo(run: Run<T, U>): void {
    this.#live = undefined;
    this.#undoing = run.undo(this.#settings.abort).then(
      () => {
        this.#undoing = undefined;
        this.#startWaiting();
      },
      (error: unknown) => {
        this.#undoing = undefined;
        if (this.state !== 'updating') this.uncaught(error);
        else this.close('ABORT_HANDLER_FAILED', 'Undoing a refuted speculation failed; see cause', error);
      },
    );
  }

  /** The source no longer guards the deadline once it has closed: from there on the result has one of its own. */
  #limitRest(): void {
    const { deadlineAt } = this;
    if (deadlineAt === undefined || this.state !== 'updating' || this.isLimited) return;
    this.limit(Math.max(deadlineAt - this.environment.tickAt(), 0));
  }
}

export function speculate<T, U>(source: Source<T>, run: RunFunction<T>, options: SpeculateOptions<T, U>): Source<U> {
  const derived = new Speculated<T, U>(source, run, options);
  source.join(derived);
  return derived;
}
