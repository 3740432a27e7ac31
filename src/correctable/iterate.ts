/** `for await` over the views: at most one waits per level, so a slow reader skips what a refinement replaced (C12). */
import type { CorrectableError } from './errors.ts';
import { FunctionListener } from './listener.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

type Step<T> = IteratorResult<AnyView<T>, undefined>;

interface Reader<T> {
  resolve(step: Step<T>): void;
  reject(error: CorrectableError): void;
}

const DONE = { done: true, value: undefined } as const;

export function iterate<T>(source: Source<T>): AsyncIterableIterator<AnyView<T>, undefined> {
  const waiting: AnyView<T>[] = [];
  let readers: Reader<T>[] = [];
  let failure: CorrectableError | undefined;
  let ended = false;

  const end = (): void => {
    ended = true;
    for (const reader of readers) reader.resolve(DONE);
    readers = [];
  };
  const onView = (view: AnyView<T>): void => {
    const reader = readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value: view });
    else {
      if (!view.final && waiting.at(-1)?.level === view.level) waiting.pop();
      waiting.push(view);
    }
    if (view.final) end();
  };
  const onFailure = (error: CorrectableError): void => {
    const reader = readers.shift();
    if (reader !== undefined) reader.reject(error);
    else failure = error;
    end();
  };
  const listener = new FunctionListener(onView, onFailure);
  source.observed = true;
  source.join(listener);

  return {
    async next(): Promise<Step<T>> {
      const value = waiting.shift();
      if (value !== undefined) return { done: false, value };
      const error = failure;
      failure = undefined;
      if (error !== undefined) throw error;
      if (ended) return DONE;
      return new Promise((resolve, reject) => readers.push({ resolve, reject }));
    },
    /** Ends the reading, not the operation. */
    async return(): Promise<Step<T>> {
      source.leave(listener);
      waiting.length = 0;
      failure = undefined;
      end();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
