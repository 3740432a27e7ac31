/** One run of a speculation: what undoes it and what commits it (C8). */
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

export interface Run<T, U> {
  /** Nothing is undone once an effect of the confirmed run is done. */
  phase: 'running' | 'committing' | 'committed' | 'undone';
  /** Ends the listening to the Correctable that the run gave. */
  stop?: () => void;
  /** What is to be done before the final. */
  readonly effects: readonly Hook[];
  readonly scope: Scope<T>;
  /** Does the effects. If the first one fails, nothing is done, and the run is undone. */
  commit(result: U): Promise<void>;
  /**
   * Aborts the signal, undoes in reverse order, then calls `abort`: each of them whatever becomes of the others. Fails
   * with the first failure; those after it are uncaught.
   */
  undo(result: U | undefined): Promise<void>;
}

export function createRun<T, U>(view: AnyView<T>, environment: Environment, abort?: Abort<T, U>): Run<T, U> {
  let controller: AbortController | undefined;
  const undos: Hook[] = [];
  const effects: Hook[] = [];
  const report = (error: unknown): void => environment.uncaught(error);
  /** Calls what comes too late to be called with the others. */
  const callNow = (hook: Hook): void => void (async () => callAs(undefined, hook))().catch(report);
  const run: Run<T, U> = {
    phase: 'running',
    effects,
    scope: {
      view,
      get signal() {
        if (!controller) {
          controller = new AbortController();
          if (run.phase === 'undone') controller.abort();
        }
        return controller.signal;
      },
      onAbort(undo) {
        if (run.phase === 'undone') callNow(undo);
        else undos.push(undo);
      },
      // If the run was undone, nothing does these any more.
      onCommit(effect) {
        if (run.phase === 'committed') callNow(effect);
        else effects.push(effect);
      },
    },
    async commit(result) {
      let done = 0;
      try {
        // Those too that come meanwhile.
        for (const effect of effects) {
          await effect();
          done++;
        }
      } catch (error) {
        if (done === 0) await run.undo(result).catch(report);
        throw error;
      }
      run.phase = 'committed';
    },
    async undo(result) {
      run.phase = 'undone';
      run.stop?.();
      controller?.abort();
      let failure: { error: unknown } | undefined;
      for (const undo of [...undos.reverse(), () => abort?.(view.value, result)]) {
        try {
          await undo();
        } catch (error) {
          if (failure) report(error);
          else failure = { error };
        }
      }
      if (failure) throw failure.error;
    },
  };
  return run;
}
