/** `for await` over the views: at most one waits per level, so a slow reader skips what a refinement replaced (C12). */
import type { CorrectableError } from './errors.ts';
import { Listener, LEFT } from './listener.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

type Step<T> = IteratorResult<AnyView<T>, undefined>;

interface Reader<T> {
  resolve(step: Step<T>): void;
  reject(error: unknown): void;
}

class ViewIterator<T> extends Listener<T> implements AsyncIterableIterator<AnyView<T>, undefined> {
  readonly #source: Source<T>;
  readonly #waiting: AnyView<T>[] = [];
  readonly #readers: Reader<T>[] = [];
  #failure: CorrectableError | undefined;
  #ended = false;

  constructor(source: Source<T>) {
    super();
    this.#source = source;
    source.observed = true;
    source.join(this);
  }

  override onView(view: AnyView<T>): void {
    if (view.final) this.#ended = true;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value: view });
    else if (!view.final && this.#waiting.at(-1)?.level === view.level) this.#waiting[this.#waiting.length - 1] = view;
    else this.#waiting.push(view);
    if (this.#ended) this.#dismissReaders();
  }

  override onFailure(error: CorrectableError): void {
    this.#ended = true;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.reject(error);
    else this.#failure = error;
    this.#dismissReaders();
  }

  next(): Promise<Step<T>> {
    const view = this.#waiting.shift();
    if (view !== undefined) return Promise.resolve({ done: false, value: view });
    const failure = this.#failure;
    if (failure !== undefined) {
      this.#failure = undefined;
      return Promise.reject(failure);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  /** Ends the reading, not the operation. */
  return(): Promise<Step<T>> {
    if (this.joinedAt !== LEFT) this.#source.leave(this);
    this.#ended = true;
    this.#failure = undefined;
    this.#waiting.length = 0;
    this.#dismissReaders();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #dismissReaders(): void {
    for (const reader of this.#readers.splice(0)) reader.resolve({ done: true, value: undefined });
  }
}

export function iterate<T>(source: Source<T>): AsyncIterableIterator<AnyView<T>, undefined> {
  return new ViewIterator(source);
}
