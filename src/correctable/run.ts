/** One run of a speculation: its input, its result so far, what undoes it and what commits it (C8). */
import type { Environment } from './environment.ts';
import { listenTo } from './listener.ts';
import type { Source } from './source.ts';
import { sourceOf } from './source-of.ts';
import { isThenable } from './values.ts';
import type { AnyView } from './view.ts';

type Effect = () => void | PromiseLike<void>;

/** The scope of a run, with its types erased. */
export interface RawScope<T> {
  readonly view: AnyView<T>;
  readonly signal: AbortSignal;
  onAbort(undo: Effect): void;
  onCommit(effect: Effect): void;
}

/** What a run has come to so far. */
export type Outcome<U> =
  | { readonly final: boolean; readonly value: U; readonly level: string | undefined }
  | { readonly error: unknown };

export class Run<T, U> implements RawScope<T> {
  /** The view that the run was started on. */
  readonly view: AnyView<T>;
  /** The strongest view so far that has the run's input as its value. */
  inputView: AnyView<T>;
  outcome: Outcome<U> | undefined = undefined;
  readonly #environment: Environment;
  readonly #onOutcome: () => void;
  readonly #undos: Effect[] = [];
  readonly #effects: Effect[] = [];
  #controller: AbortController | undefined;
  #phase: 'running' | 'committing' | 'undone' = 'running';
  #stop: (() => void) | undefined;
  #told: { readonly value: U; readonly level: string } | undefined;

  constructor(view: AnyView<T>, environment: Environment, onOutcome: () => void) {
    this.view = view;
    this.inputView = view;
    this.#environment = environment;
    this.#onOutcome = onOutcome;
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

  readonly onAbort = (undo: Effect): void => {
    if (this.#phase === 'undone') this.#runLate(undo);
    else this.#undos.push(undo);
  };

  readonly onCommit = (effect: Effect): void => {
    this.#effects.push(effect);
  };

  start(run: (value: T, scope: RawScope<T>) => unknown): void {
    let result: unknown;
    try {
      result = run(this.view.value, this);
    } catch (error) {
      this.#settle({ error });
      return;
    }
    const inner = sourceOf<U>(result);
    if (inner !== undefined) this.#followSource(inner);
    else if (isThenable(result)) {
      result.then(
        (value) => this.#settle({ final: true, value: value as U, level: undefined }),
        (error: unknown) => this.#settle({ error }),
      );
    } else this.#settle({ final: true, value: result as U, level: undefined });
  }

  /** Whether the result was not told yet at this level. */
  isNews(value: U, level: string): boolean {
    const told = this.#told;
    this.#told = { value, level };
    return told === undefined || told.level !== level || !Object.is(told.value, value);
  }

  /** Runs the effects in order; a promise only where there are any. */
  commit(): Promise<void> | undefined {
    this.#phase = 'committing';
    return this.#effects.length === 0 ? undefined : this.#runEffects();
  }

  /** Aborts the signal, undoes in reverse order, then calls the abort function. */
  async undo(abort: ((input: T, result: U | undefined) => void | PromiseLike<void>) | undefined): Promise<void> {
    this.#phase = 'undone';
    this.#stop?.();
    this.#controller?.abort();
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) await undo();
    const { outcome } = this;
    await abort?.(this.view.value, outcome !== undefined && 'value' in outcome ? outcome.value : undefined);
  }

  #followSource(inner: Source<U>): void {
    inner.observed = true;
    const listener = listenTo<U>(
      ({ final, value, level }) => this.#settle({ final, value, level }),
      (error) => this.#settle({ error }),
    );
    inner.join(listener);
    this.#stop = () => inner.leave(listener);
  }

  #settle(outcome: Outcome<U>): void {
    if (this.#phase === 'undone') return;
    this.outcome = outcome;
    this.#onOutcome();
  }

  async #runEffects(): Promise<void> {
    for (const effect of this.#effects) await effect();
  }

  /** Registered after the run was undone: undone at once, since nothing else would. */
  #runLate(undo: Effect): void {
    void (async () => undo())().catch((error: unknown) => this.#environment.uncaught(error));
  }
}
