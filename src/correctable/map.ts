/** Views with a function applied to each value (C11). */
import { Derived } from './derive.ts';
import type { Source } from './source.ts';
import { detailsOf } from './values.ts';
import type { AnyView } from './view.ts';

class Mapped<T, U> extends Derived<T, U> {
  readonly #transform: (value: T) => U;
  #last: { readonly input: T; readonly result: U } | undefined = undefined;

  constructor(source: Source<T>, transform: (value: T) => U) {
    super(source);
    this.#transform = transform;
  }

  onView(view: AnyView<T>): void {
    const { value, level } = view;
    const transform = this.#transform;
    let last = this.#last;
    try {
      // A confirmed value keeps its reference: its result is known.
      if (last === undefined || !Object.is(last.input, value)) last = { input: value, result: transform(value) };
    } catch (error) {
      this.fail(error, level);
      return;
    }
    this.#last = last;
    this.update(last.result, level, detailsOf(view));
  }
}

export function map<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const mapped = new Mapped(source, transform);
  source.join(mapped);
  return mapped;
}
