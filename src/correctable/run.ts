/** One run of a speculation: its input, its result so far, what undoes it and what commits it (C8). */
import type { Environment } from './environment.ts';
import type { AnyView } from './view.ts';

type Effect = () => void | PromiseLike<void>;

/** What is run, with its types erased. */
export type RunFunction<T> = (value: T, scope: Scope<T>) => unknown;

export type Abort<T, U> = (input: T, result: U | undefined) => void | PromiseLike<void>;

/** What a run may use beside its input. */
interface Scope<T> {
  readonly view: AnyView<T>;
  readonly signal: AbortSignal;
  readonly onAbort: (undo: Effect) => void;
  readonly onCommit: (effect: Effect) => void;
}

/** What a run has come to: a view, or a value or a failure of its own. */
export interface Outcome<U> {
  readonly final?: boolean;
  readonly value?: U;
  /** Of a view. */
  readonly level?: string;
  readonly failed?: true;
  readonly error?: unknown;
}

export class Run<T, U> implements Scope<T> {
  /** The view that the run was started on. */
  readonly view: AnyView<T>;
  /** The strongest view so far that has the run's input as its value. */
  input: AnyView<T>;
  /** What it has come to so far. */
  outcome: Outcome<U> | undefined;
  /** The last preview of the result that was told. */
  toldValue: U | undefined;
  toldLevel: string | undefined;
  /** Nothing is undone once the effects of the confirmed run have begun. */
  phase: 'running' | 'committing' | 'undone' = 'running';
  undos: Effect[] | undefined;
  effects: Effect[] | undefined;
  /** Ends the listening to the Correctable that the run gave. */
  stop: (() => void) | undefined;
  readonly #environment: Environment;
  #controller: AbortController | undefined;

  constructor(view: AnyView<T>, environment: Environment) {
    this.view = this.input = view;
    this.#environment = environment;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.phase === 'undone') this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** A function on its own, so that it may be taken out of the scope; made for runs that ask for it. */
  get onAbort(): (undo: Effect) => void {
    return (undo) => {
      if (this.phase !== 'undone') (this.undos ??= []).push(undo);
      // Too late for the undoing: undone at once, since nothing else would.
      else inOrder([undo]).catch((error: unknown) => this.#environment.uncaught(error));
    };
  }

  get onCommit(): (effect: Effect) => void {
    return (effect) => {
      (this.effects ??= []).push(effect);
    };
  }

  /** Aborts the signal, undoes in reverse order, then calls `abort`. */
  async undo(abort: Abort<T, U> | undefined): Promise<void> {
    this.phase = 'undone';
    this.stop?.();
    this.#controller?.abort();
    await inOrder(this.undos?.reverse());
    await abort?.(this.view.value, this.outcome?.value);
  }
}

/** Runs the effects one after the other. */
export async function inOrder(effects: readonly Effect[] = []): Promise<void> {
  for (const effect of effects) await effect();
}
