/** One run of a speculation, with the functions that undo or commit it (COR-8). */
import type { Environment } from '../environment.ts';
import type { AnyView } from '../view.ts';

/** The phases of a run. They are numbers, because pages download the names of strings. */
export const RUNNING = 0;
/** Its effects are being executed. */
export const COMMITTING = 1;
export const COMMITTED = 2;
export const UNDONE = 3;

type RunPhase = typeof RUNNING | typeof COMMITTING | typeof COMMITTED | typeof UNDONE;

type Hook = () => void | PromiseLike<void>;

/**
 * The function of a run, with its types erased. It gets the run as the context that it may use
 * beside its input.
 */
export type StepFunction<T> = (value: T, scope: SpeculativeRun<T, never>) => unknown;

export type AbortCallback<T, U> = (input: T, result: U | undefined) => void | PromiseLike<void>;

/**
 * The run whose step is being called. Operations that are invoked now belong to it, until the step
 * first waits. Undo functions and listeners are called without it.
 */
export const activeRun: {
  run: { readonly phase: number } | undefined;
} = {
  run: undefined,
};

/** Calls `call` with `run` as the active run, or with `undefined` outside of any run. */
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
  /** A run is never undone after its first effect was executed. */
  phase: RunPhase = RUNNING;
  /** Stops listening to the Correctable that the run returned. */
  stopListening: (() => void) | undefined;
  /** The effects to run before the final. */
  commitHooks: Hook[] | undefined;
  #undoHooks: Hook[] | undefined;
  #controller: AbortController | undefined;
  readonly #environment: Environment;

  constructor(view: AnyView<T>, environment: Environment) {
    this.view = view;
    this.#environment = environment;
  }

  get signal(): AbortSignal {
    const controller = (this.#controller ??= new AbortController());
    if (this.phase === UNDONE) controller.abort();
    return controller.signal;
  }

  /**
   * A getter returns the function, so that a program can destructure the context. The function is
   * created only for runs that use it.
   */
  get onAbort(): (undo: Hook) => void {
    return (undo) => {
      if (this.phase === UNDONE) this.#callNow(undo);
      else (this.#undoHooks ??= []).push(undo);
    };
  }

  /** If the run was undone, these effects never run. */
  get onCommit(): (effect: Hook) => void {
    return (effect) => {
      if (this.phase === COMMITTED) this.#callNow(effect);
      else (this.commitHooks ??= []).push(effect);
    };
  }

  /** Runs the effects. If the first one fails, nothing has taken effect, so the run is undone. */
  async commit(abort: AbortCallback<T, U> | undefined, result: U): Promise<void> {
    let done = 0;
    try {
      // Effects that are added meanwhile run too.
      for (const effect of this.commitHooks!) {
        await effect();
        done++;
      }
    } catch (error) {
      if (!done) await this.undo(abort, result).catch(this.#environment.reportUncaught);
      throw error;
    }
    this.phase = COMMITTED;
  }

  /**
   * Aborts the signal, undoes in reverse order, then calls `abort`. Each of them runs even if
   * others fail. Rejects with the first failure. Later ones are reported as uncaught.
   */
  async undo(abort: AbortCallback<T, U> | undefined, result: U | undefined): Promise<void> {
    this.phase = UNDONE;
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
    if (failures.length) throw failures[0];
  }

  /** Calls a hook that was added after the others had been called. */
  #callNow(hook: Hook): void {
    (async () => callInRun(undefined, hook))().catch(this.#environment.reportUncaught);
  }
}
