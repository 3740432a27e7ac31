/** Views with a function applied to each value (C11). */
import { derive, observe } from './derive.ts';
import { failByPart, type Source } from './source.ts';

export function map<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const mapped = derive<T, U>(source);
  let input: T;
  let result: U;
  observe(source, mapped, (value, view) => {
    try {
      // A confirmed value keeps its reference: its result is known.
      if (!mapped.latest || !Object.is(input, value)) result = transform(value);
      input = value;
      mapped.update(result, view.level, view);
    } catch (error) {
      failByPart(mapped, error, view.level);
    }
  });
  return mapped;
}
