/** Views with a function applied to each value (C11). */
import { derive } from './derive.ts';
import type { CorrectableError } from './errors.ts';
import { Listener } from './listener.ts';
import type { Source } from './source.ts';
import { detailsOf } from './values.ts';
import type { AnyView } from './view.ts';

class MapListener<T, U> extends Listener<T> {
  readonly #derived: Source<U>;
  readonly #transform: (value: T) => U;
  #last: { readonly input: T; readonly result: U } | undefined;

  constructor(derived: Source<U>, transform: (value: T) => U) {
    super();
    this.#derived = derived;
    this.#transform = transform;
  }

  override onView(view: AnyView<T>): void {
    let result: U;
    try {
      result =
        this.#last !== undefined && Object.is(this.#last.input, view.value)
          ? this.#last.result
          : this.#transform(view.value);
    } catch (error) {
      this.#derived.fail(error, view.level);
      return;
    }
    this.#last = { input: view.value, result };
    this.#derived.update(result, view.level, detailsOf(view));
  }

  override onFailure(error: CorrectableError): void {
    this.#derived.failWith(error);
  }
}

export function map<T, U>(source: Source<T>, transform: (value: T) => U): Source<U> {
  const derived = derive<T, U>(source);
  const listener = new MapListener(derived, transform);
  source.join(listener);
  derived.onClose(() => source.leave(listener));
  return derived;
}
