/** One run of a speculation: what undoes it and what commits it (C8). */
import type { Environment } from '../environment.ts';
import type { AnyView } from '../view.ts';

type Hook = () => void | PromiseLike<void>;

/**
 * What is run, with its types erased. The run is its scope: what it may use
 * beside its input.
 */
export type StepFunction<T> = (
  value: T,
  scope: SpeculativeRun<T, never>,
) => unknown;

export type AbortCallback<T, U> = (
  input: T,
  result: U | undefined,
) => void | PromiseLike<void>;

/**
 * The run whose step is being called: what is invoked now belongs to it, until
 * the step first waits. Not what the step only sets off: undos, and what
 * listeners do.
 */
export const activeRun: {
  run: Pick<SpeculativeRun<never, never>, 'phase'> | undefined;
} = {
  run: undefined,
};

/** `undefined` for what is of no run. */
export function callInRun<R>(run: typeof activeRun.run, callback: () => R): R {
  const outer = activeRun.run;
  activeRun.run = run;
  try {
    return callback();
  } finally {
    activeRun.run = outer;
  }
}

export class SpeculativeRun<T, U> {
  readonly view: AnyView<T>;
  /** Nothing is undone once an effect of the confirmed run is done. */
  phase: 'running' | 'committing' | 'committed' | 'undone' = 'running';
  /** Ends the listening to the Correctable that the run gave. */
  stopListening: (() => void) | undefined;
  /** What is to be done before the final. */
  commitHooks: Hook[] | undefined;
  #undoHooks: Hook[] | undefined;
  #controller: AbortController | undefined;
  readonly #environment: Environment;

  constructor(view: AnyView<T>, environment: Environment) {
    this.view = view;
    this.#environment = environment;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.phase === 'undone') this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /**
   * A function on its own, so that it may be taken out of the scope; made for
   * runs that ask for it.
   */
  get onAbort(): (undo: Hook) => void {
    return (undo) => {
      if (this.phase === 'undone') this.#callNow(undo);
      else (this.#undoHooks ??= []).push(undo);
    };
  }

  /** If the run was undone, nothing does these effects any more. */
  get onCommit(): (effect: Hook) => void {
    return (effect) => {
      if (this.phase === 'committed') this.#callNow(effect);
      else (this.commitHooks ??= []).push(effect);
    };
  }

  /**
   * Does the effects. If the first one fails, nothing is done, and the run is
   * undone.
   */
  async commit(
    abort: AbortCallback<T, U> | undefined,
    result: U,
  ): Promise<void> {
    let done = 0;
    try {
      // Those too that come meanwhile.
      for (const effect of this.commitHooks!) {
        await effect();
        done++;
      }
    } catch (error) {
      if (done === 0)
        await this.undo(abort, result).catch(this.#environment.reportUncaught);
      throw error;
    }
    this.phase = 'committed';
  }

  /**
   * Aborts the signal, undoes in reverse order, then calls `abort`: each of
   * them whatever becomes of the others. Fails with the first failure; those
   * after it are uncaught.
   */
  async undo(
    abort: AbortCallback<T, U> | undefined,
    result: U | undefined,
  ): Promise<void> {
    this.phase = 'undone';
    this.stopListening?.();
    this.#controller?.abort();
    const failures: unknown[] = [];
    for (const undo of [
      ...(this.#undoHooks?.reverse() ?? []),
      () => abort?.(this.view.value, result),
    ]) {
      try {
        await undo();
      } catch (error) {
        if (failures.push(error) > 1) this.#environment.reportUncaught(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Calls what comes too late to be called with the others. */
  #callNow(hook: Hook): void {
    (async () => callInRun(undefined, hook))().catch(
      this.#environment.reportUncaught,
    );
  }
}
