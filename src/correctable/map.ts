/** Views with a function applied to each value (C11). */
import { derive } from './derive.ts';
import { listenTo } from './listener.ts';
import type { Source } from './source.ts';
import { detailsOf } from './values.ts';

export function map<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const derived = derive<T, U>(source);
  let last: { readonly input: T; readonly result: U } | undefined;
  const listener = listenTo<T>(
    (view) => {
      const { value, level } = view;
      try {
        // A confirmed value keeps its reference: its result is known.
        if (last === undefined || !Object.is(last.input, value)) last = { input: value, result: transform(value) };
      } catch (error) {
        derived.fail(error, level);
        return;
      }
      derived.update(last.result, level, detailsOf(view));
    },
    (error) => derived.failWith(error),
  );
  source.join(listener);
  derived.onClose(() => source.leave(listener));
  return derived;
}
