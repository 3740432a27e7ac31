/** `for await` over the views: at most one waits per level, so a slow reader skips what a refinement replaced (C12). */
import { leave, listenToAll } from './audience.ts';
import type { CorrectableError } from './errors.ts';
import type { Source } from './source.ts';
import { relaxAgain } from './source.ts';
import type { AnyView } from './view.ts';

type Step<T> = IteratorResult<AnyView<T>, undefined>;

interface Reader<T> {
  readonly resolve: (step: Step<T>) => void;
  readonly reject: (error: CorrectableError) => void;
}

/** Old engines lack the symbol; `await using` down-leveled by compilers finds this one. */
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

const DONE = { done: true, value: undefined } as const;

export function iterate<T>(source: Source<T>): AsyncGenerator<AnyView<T>, undefined> {
  const waiting: AnyView<T>[] = [];
  const readers: Reader<T>[] = [];
  let failure: CorrectableError | undefined;
  let hasEnded = false;

  const end = (): void => {
    hasEnded = true;
    for (const { resolve } of readers.splice(0)) resolve(DONE);
  };
  const seat = listenToAll(
    source,
    (_value, view) => {
      const reader = readers.shift();
      if (reader) reader.resolve({ done: false, value: view });
      else {
        if (!view.final && waiting.at(-1)?.level === view.level) waiting.pop();
        waiting.push(view);
      }
      if (view.final) end();
    },
    (error) => {
      const reader = readers.shift();
      if (reader) reader.reject(error);
      else failure = error;
      end();
    },
  );

  /** Ends the reading, not the operation. */
  const stop = (): void => {
    leave(source, seat);
    relaxAgain(source);
    waiting.length = 0;
    failure = undefined;
    end();
  };

  return {
    async next() {
      const value = waiting.shift();
      const error = failure;
      if (value) return { done: false, value };
      failure = undefined;
      if (error) throw error;
      return hasEnded ? DONE : new Promise((resolve, reject) => readers.push({ resolve, reject }));
    },
    async return(value) {
      stop();
      return { done: true, value: await value };
    },
    async throw(error) {
      stop();
      throw error;
    },
    [ASYNC_DISPOSE]: async () => stop(),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
