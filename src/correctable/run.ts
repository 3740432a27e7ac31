/** One run of a speculation: its input, its result so far, what undoes it and what commits it (C8). */
import type { CorrectableError } from './errors.ts';
import { FunctionListener } from './listener.ts';
import type { Source } from './source.ts';
import { sourceOf } from './source-of.ts';
import { isThenable } from './values.ts';
import type { AnyView } from './view.ts';

type Effect = () => void | PromiseLike<void>;

/** The scope of a run, with its types erased. */
export interface RawScope<T> {
  readonly view: AnyView<T>;
  readonly signal: AbortSignal;
  readonly onAbort: (undo: Effect) => void;
  readonly onCommit: (effect: Effect) => void;
}

/** Whose runs these are. */
export interface RunOwner<T, U> {
  /** The run has come to something. */
  onOutcome(run: Run<T, U>): void;
  uncaught(error: unknown): void;
}

export class Run<T, U> implements RawScope<T> {
  /** The view that the run was started on. */
  readonly view: AnyView<T>;
  /** The strongest view so far that has the run's input as its value. */
  inputView: AnyView<T>;
  /** What the run has come to so far. A value is `final` unless a Correctable brings it, which then says its `level`. */
  outcome: 'none' | 'value' | 'final' | 'error' = 'none';
  value: U | undefined = undefined;
  level: string | undefined = undefined;
  error: unknown = undefined;
  readonly #owner: RunOwner<T, U>;
  #phase: 'running' | 'committing' | 'undone' = 'running';
  #undos: Effect[] | undefined = undefined;
  #effects: Effect[] | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #stop: (() => void) | undefined = undefined;
  #toldValue: U | undefined = undefined;
  #toldLevel: string | undefined = undefined;

  constructor(view: AnyView<T>, owner: RunOwner<T, U>) {
    this.view = view;
    this.inputView = view;
    this.#owner = owner;
  }

  /** False once the effects of the confirmed run have begun. */
  get mayBeUndone(): boolean {
    return this.#phase === 'running';
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#phase === 'undone') this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** A function on its own, so that it may be taken out of the scope; made for runs that ask for it. */
  get onAbort(): (undo: Effect) => void {
    return (undo) => {
      if (this.#phase === 'undone') this.#runLate(undo);
      else (this.#undos ??= []).push(undo);
    };
  }

  get onCommit(): (effect: Effect) => void {
    return (effect) => {
      (this.#effects ??= []).push(effect);
    };
  }

  start(run: (value: T, scope: RawScope<T>) => unknown): void {
    let result: unknown;
    try {
      result = run(this.view.value, this);
    } catch (error) {
      this.#fail(error);
      return;
    }
    const inner = sourceOf<U>(result);
    if (inner !== undefined) this.#followSource(inner);
    else if (isThenable(result)) {
      result.then(
        (value) => this.#give(value as U, true),
        (error: unknown) => this.#fail(error),
      );
    } else this.#give(result as U, true);
  }

  /** Whether the result was not told yet at this level; from now on it was. */
  isNewsAt(level: string): boolean {
    const isNews = this.#toldLevel !== level || !Object.is(this.#toldValue, this.value);
    this.#toldLevel = level;
    this.#toldValue = this.value;
    return isNews;
  }

  /** Runs the effects in order; a promise only where there are any. */
  commit(): Promise<void> | undefined {
    this.#phase = 'committing';
    return this.#effects === undefined ? undefined : runInOrder(this.#effects);
  }

  /** Aborts the signal, undoes in reverse order, then calls the abort function. */
  async undo(abort: ((input: T, result: U | undefined) => void | PromiseLike<void>) | undefined): Promise<void> {
    this.#phase = 'undone';
    this.#stop?.();
    this.#controller?.abort();
    const undos = this.#undos ?? [];
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await undo();
    await abort?.(this.view.value, this.value);
  }

  #followSource(inner: Source<U>): void {
    inner.observed = true;
    const listener = new FunctionListener<U>(
      ({ final, value, level }) => this.#give(value, final, level),
      (error: CorrectableError) => this.#fail(error),
    );
    inner.join(listener);
    this.#stop = () => inner.leave(listener);
  }

  #give(value: U, final: boolean, level?: string): void {
    if (this.#phase === 'undone') return;
    this.value = value;
    this.level = level;
    this.outcome = final ? 'final' : 'value';
    this.#owner.onOutcome(this);
  }

  #fail(error: unknown): void {
    if (this.#phase === 'undone') return;
    this.value = undefined;
    this.error = error;
    this.outcome = 'error';
    this.#owner.onOutcome(this);
  }

  /** Registered after the run was undone: undone at once, since nothing else would. */
  #runLate(undo: Effect): void {
    runInOrder([undo]).catch((error: unknown) => this.#owner.uncaught(error));
  }
}

async function runInOrder(effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) await effect();
}
