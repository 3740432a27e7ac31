/** Who listens to a source: links of its list, and what each kind does with a view or a failure (C4). */
import type { CorrectableError } from './errors.ts';
import type { AnyView } from './view.ts';

/** The place in the delivery of a listener that has left: no view comes after it. */
export const LEFT: number = 2 ** 30 - 1;

export abstract class Listener<T> {
  /** How many deliveries were before it joined: it gets the later ones only. */
  joinedAt = 0;
  /** A view from before it joined, to be delivered before any other and not inside the call that attaches it. */
  missed: AnyView<T> | undefined = undefined;
  before: Listener<T> | undefined = undefined;
  after: Listener<T> | undefined = undefined;

  abstract onView(view: AnyView<T>): void;
  abstract onFailure(error: CorrectableError): void;
}

/** The keys of `setCallbacks`, by view kind. */
export interface RawCallbacks<T> {
  readonly onUpdate?: ((value: T, view: AnyView<T>) => void) | undefined;
  readonly onFinal?: ((value: T, view: AnyView<T>) => void) | undefined;
  readonly onError?: ((error: CorrectableError) => void) | undefined;
}

type ViewCallback<T> = ((value: T, view: AnyView<T>) => void) | undefined;
type ErrorCallback = ((error: CorrectableError) => void) | undefined;

export class CallbackListener<T> extends Listener<T> {
  readonly #update: ViewCallback<T>;
  readonly #final: ViewCallback<T>;
  readonly #error: ErrorCallback;

  constructor(update: ViewCallback<T>, final: ViewCallback<T>, error: ErrorCallback) {
    super();
    this.#update = update;
    this.#final = final;
    this.#error = error;
  }

  override onView(view: AnyView<T>): void {
    const callback = view.final ? this.#final : this.#update;
    if (callback !== undefined) callback(view.value, view);
  }

  override onFailure(error: CorrectableError): void {
    if (this.#error !== undefined) this.#error(error);
  }
}
