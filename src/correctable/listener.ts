/** One who listens to a source: a link of its list, with what to call on a view or a failure (C4). */
import type { CorrectableError } from './errors.ts';
import type { AnyView } from './view.ts';

/** The place in the delivery of a listener that has left: no view comes after it. */
export const LEFT: number = 2 ** 30 - 1;

export type ViewCallback<T> = ((value: T, view: AnyView<T>) => void) | undefined;
export type ErrorCallback = ((error: CorrectableError) => void) | undefined;

export class Listener<T> {
  readonly onUpdate: ViewCallback<T>;
  readonly onFinal: ViewCallback<T>;
  readonly onError: ErrorCallback;
  /** How many deliveries were before it joined: it gets the later ones only. */
  joinedAt = 0;
  /** A view from before it joined, to be delivered before any other and not inside the call that attaches it. */
  missed: AnyView<T> | undefined = undefined;
  before: Listener<T> | undefined = undefined;
  after: Listener<T> | undefined = undefined;

  constructor(onUpdate: ViewCallback<T>, onFinal: ViewCallback<T>, onError: ErrorCallback) {
    this.onUpdate = onUpdate;
    this.onFinal = onFinal;
    this.onError = onError;
  }
}

/** A listener to whom all views are alike. */
export function listenTo<T>(onView: (view: AnyView<T>) => void, onError: ErrorCallback): Listener<T> {
  const onEach = (_value: T, view: AnyView<T>): void => onView(view);
  return new Listener(onEach, onEach, onError);
}
