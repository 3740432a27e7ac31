/** One run of a speculation: its input, its result so far, what undoes it and what commits it (C8). */
import type { Environment } from './environment.ts';
import type { AnyView } from './view.ts';

type Hook = () => void | PromiseLike<void>;

/** What is run, with its types erased. */
export type RunFunction<T> = (value: T, scope: Scope<T>) => unknown;

export type Abort<T, U> = (input: T, result: U | undefined) => void | PromiseLike<void>;

/** What a run may use beside its input. */
interface Scope<T> {
  readonly view: AnyView<T>;
  readonly signal: AbortSignal;
  readonly onAbort: (undo: Hook) => void;
  readonly onCommit: (effect: Hook) => void;
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

/**
 * The run whose step is being called: what is invoked now belongs to it, until the step first waits. Not what the step
 * only sets off: undos, and what listeners do.
 */
export const present: { run: Pick<Run<never, never>, 'phase'> | undefined } = { run: undefined };

/** `undefined` for what is of no run. */
export function callAs<R>(run: typeof present.run, callback: () => R): R {
  const outer = present.run;
  present.run = run;
  try {
    return callback();
  } finally {
    present.run = outer;
  }
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
  /** Nothing is undone once an effect of the confirmed run is done. */
  phase: 'running' | 'committing' | 'committed' | 'undone' = 'running';
  undos: Hook[] | undefined;
  effects: Hook[] | undefined;
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
  get onAbort(): (undo: Hook) => void {
    return (undo) => {
      if (this.phase !== 'undone') (this.undos ??= []).push(undo);
      // Too late for the undoing: undone at once, since nothing else would.
      else this.#atOnce(undo);
    };
  }

  get onCommit(): (effect: Hook) => void {
    return (effect) => {
      // Too late for the final: done at once. Of what was undone nothing is done.
      if (this.phase === 'committed') this.#atOnce(effect);
      else (this.effects ??= []).push(effect);
    };
  }

  /** Calls the step: what it invokes on the spot is of this run. */
  call(step: RunFunction<T>): unknown {
    return callAs(this, () => step(this.view.value, this));
  }

  /** Does what is to be done before the final. Where the first effect fails, nothing is done, and the run is undone. */
  async commit(abort: Abort<T, U> | undefined): Promise<void> {
    let done = 0;
    try {
      // Those too that come meanwhile.
      for (const effect of this.effects!) {
        await effect();
        done++;
      }
    } catch (error) {
      if (done === 0) await this.undo(abort).catch((second: unknown) => this.#environment.uncaught(second));
      throw error;
    }
    this.phase = 'committed';
  }

  /**
   * Aborts the signal, undoes in reverse order, then calls `abort`: each of them whatever becomes of the others. Fails
   * with the first failure; those after it are uncaught.
   */
  async undo(abort: Abort<T, U> | undefined): Promise<void> {
    this.phase = 'undone';
    this.stop?.();
    this.#controller?.abort();
    const failures: unknown[] = [];
    for (const undo of [...(this.undos?.reverse() ?? []), () => abort?.(this.view.value, this.outcome?.value)]) {
      try {
        await undo();
      } catch (error) {
        failures.push(error);
      }
    }
    for (const error of failures.splice(1)) this.#environment.uncaught(error);
    for (const error of failures) throw error;
  }

  #atOnce(effect: Hook): void {
    (async () => callAs(undefined, effect))().catch((error: unknown) => this.#environment.uncaught(error));
  }
}
