/** One who listens to a source: a link of its list, told of views and of the failure (C4). */
import type { CorrectableError } from './errors.ts';
import type { AnyView } from './view.ts';

/** The place in the delivery of a listener that has left: no view comes after it. */
export const LEFT: number = 2 ** 30 - 1;

export interface Listener<T> {
  /** How many deliveries were before it joined: it gets the later ones only. */
  joinedAt: number;
  /** A view from before it joined, to be delivered before any other and not inside the call that attaches it. */
  missed: AnyView<T> | undefined;
  before: Listener<T> | undefined;
  after: Listener<T> | undefined;
  onView(view: AnyView<T>): void;
  onFailure(error: CorrectableError): void;
}

/** A listener of two functions. */
export class FunctionListener<T> implements Listener<T> {
  joinedAt = 0;
  missed: AnyView<T> | undefined = undefined;
  before: Listener<T> | undefined = undefined;
  after: Listener<T> | undefined = undefined;
  readonly onView: (view: AnyView<T>) => void;
  readonly onFailure: (error: CorrectableError) => void;

  constructor(onView: (view: AnyView<T>) => void, onFailure: (error: CorrectableError) => void) {
    this.onView = onView;
    this.onFailure = onFailure;
  }
}

export type ViewCallback<T> = ((value: T, view: AnyView<T>) => void) | undefined;
export type ErrorCallback = ((error: CorrectableError) => void) | undefined;

/** The three callbacks of the paper as one listener. */
export function callbackListener<T>(
  onUpdate: ViewCallback<T>,
  onFinal: ViewCallback<T>,
  onError: ErrorCallback,
): Listener<T> {
  return new FunctionListener<T>(
    (view) => (view.final ? onFinal : onUpdate)?.(view.value, view),
    (error) => onError?.(error),
  );
}
