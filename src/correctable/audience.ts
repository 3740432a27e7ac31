/**
 * The outcome of one operation so far, and who hears of it: deliveries in one order for everybody, whatever callbacks
 * do meanwhile (C4).
 */
import type { ViewDetails } from './binding.ts';
import type { Environment } from './environment.ts';
import type { CorrectableError } from './errors.ts';
import type { ErrorCallback, Listener, ViewCallback } from './listener.ts';
import { callbackListener, LEFT } from './listener.ts';
import type { AnyView } from './view.ts';

export type State = 'updating' | 'final' | 'error';

/** What few operations need, so that the others do not pay for it. */
export interface Extras {
  error?: CorrectableError;
  /** Runs callbacks in the async context of the invocation, where the client asks for that. */
  runInContext?: (callback: () => void) => void;
  /** Deliveries that arose inside a delivery; `undefined` stands for the failure. */
  queue?: (AnyView | undefined)[];
  controller?: AbortController;
  /** Run at closing, whatever the outcome. */
  cleanUps?: (() => void)[];
  /** Values that the binding gave, by number, for later confirmations (C7). */
  kept?: Map<number, KeptValue>;
  levelErrors?: Record<string, unknown>;
  /** The newest version among the views before the latest one. */
  newestVersion?: unknown;
  /** A view was taken early by `settle` or `when`: a later failure is nobody's error (C9). */
  answeredEarly?: boolean;
}

export interface KeptValue extends ViewDetails {
  readonly value: unknown;
}

/**
 * Private members of this class and its heirs are so by type only: the checks that `#methods` carry would make a
 * delivery too long for engines to compile as one piece. Consumers hold a handle, never a source.
 */
export abstract class Audience<T> {
  abstract readonly environment: Environment;
  state: State = 'updating';
  latest: AnyView<T> | undefined = undefined;
  /** Whether somebody sees a failure (C5). */
  observed = false;
  /** Views and failures so far, delivered or queued for delivery. */
  accepted = 0;
  extras: Extras | undefined = undefined;
  /** The first callback of each kind, where attached before all else: most operations have no more, and need no list. */
  private onUpdate: ViewCallback<T> = undefined;
  private onFinal: ViewCallback<T> = undefined;
  private onError: ErrorCallback = undefined;
  private head: Listener<T> | undefined = undefined;
  private tail: Listener<T> | undefined = undefined;
  private finalPromise: Promise<T> | undefined = undefined;
  private delivering = false;

  get error(): CorrectableError | undefined {
    return this.extras?.error;
  }

  more(): Extras {
    return (this.extras ??= {});
  }

  /** Calls `callback` with preliminary views, as `join` says. */
  addOnUpdate(callback: ViewCallback<T>): void {
    if (this.onUpdate === undefined && this.isUnheard) this.onUpdate = callback;
    else this.join(callbackListener(callback, undefined, undefined));
  }

  /** Calls `callback` with the final view, as `join` says. */
  addOnFinal(callback: ViewCallback<T>): void {
    if (this.onFinal === undefined && this.isUnheard) this.onFinal = callback;
    else this.join(callbackListener(undefined, callback, undefined));
  }

  /** Calls `callback` with the failure. */
  addOnError(callback: ErrorCallback): void {
    this.observed = true;
    if (this.onError === undefined && this.isUnheard) this.onError = callback;
    else this.join(callbackListener<T>(undefined, undefined, callback));
  }

  /** Tells `listener` the latest view, not inside this call, and then what follows; after the end, the outcome. */
  join(listener: Listener<T>): void {
    if (this.accepted > 0) this.tellSoon(listener);
    if (this.state !== 'updating') return;
    listener.joinedAt = this.accepted;
    listener.before = this.tail;
    if (this.tail === undefined) this.head = listener;
    else this.tail.after = listener;
    this.tail = listener;
  }

  leave(listener: Listener<T>): void {
    if (listener.joinedAt === LEFT) return;
    listener.joinedAt = LEFT;
    listener.missed = undefined;
    const { before, after } = listener;
    if (before !== undefined) before.after = after;
    else if (this.head === listener) this.head = after;
    if (after !== undefined) after.before = before;
    else if (this.tail === listener) this.tail = before;
    listener.before = undefined;
    // A delivery under way may stand on this listener and needs the way on.
    if (!this.delivering) listener.after = undefined;
  }

  /** The one promise of the final value; whoever asks for it sees a failure. */
  promise(): Promise<T> {
    this.observed = true;
    return (this.finalPromise ??= new Promise((resolve, reject) => {
      if (this.state === 'final') resolve(this.latest!.value);
      else if (this.state === 'error') reject(this.error);
      else {
        this.addOnFinal(resolve);
        this.addOnError(reject);
      }
    }));
  }

  /** Tells everybody the view; `undefined` stands for the failure. */
  protected deliver(view: AnyView<T> | undefined): void {
    this.accepted++;
    if (this.delivering) this.enqueue(view);
    else if (this.extras === undefined) this.deliverNow(view);
    else this.deliverInContext(view);
  }

  private deliverNow(view: AnyView<T> | undefined): void {
    this.delivering = true;
    this.callFirst(view);
    if (this.head !== undefined) this.tellListeners(view, this.accepted);
    if (this.extras !== undefined) this.deliverQueue();
    this.delivering = false;
    if (this.state !== 'updating') this.forget();
  }

  private get isUnheard(): boolean {
    return this.accepted === 0 && this.head === undefined;
  }

  private forget(): void {
    this.head = this.tail = this.onUpdate = this.onFinal = this.onError = undefined;
  }

  private enqueue(view: AnyView<T> | undefined): void {
    (this.more().queue ??= []).push(view);
  }

  private deliverQueue(): void {
    const queue = this.extras?.queue ?? [];
    while (queue.length > 0) {
      const number = this.accepted - queue.length + 1;
      const view = queue.shift() as AnyView<T> | undefined;
      this.callFirst(view);
      this.tellListeners(view, number);
    }
  }

  private tellListeners(view: AnyView<T> | undefined, number: number): void {
    for (let listener = this.head; listener !== undefined; listener = listener.after) {
      if (listener.joinedAt >= number) continue;
      if (listener.missed !== undefined) this.catchUp(listener);
      this.tell(listener, view);
    }
  }

  private catchUp(listener: Listener<T>): void {
    const { missed } = listener;
    listener.missed = undefined;
    if (missed !== undefined) this.tell(listener, missed);
  }

  private tellSoon(listener: Listener<T>): void {
    const { state } = this;
    if (state === 'updating') listener.missed = this.latest;
    const tell = (): void => {
      if (state === 'updating') this.catchUp(listener);
      else this.tell(listener, state === 'final' ? this.latest : undefined);
    };
    queueMicrotask(() => this.inContext(tell));
  }

  private deliverInContext(view: AnyView<T> | undefined): void {
    this.inContext(() => this.deliverNow(view));
  }

  private inContext(call: () => void): void {
    const run = this.extras?.runInContext;
    if (run === undefined) call();
    else run(call);
  }

  private callFirst(view: AnyView<T> | undefined): void {
    const { onUpdate, onFinal, onError } = this;
    try {
      if (view === undefined) onError?.(this.error!);
      else if (view.final) onFinal?.(view.value, view);
      else onUpdate?.(view.value, view);
    } catch (error) {
      this.environment.uncaught(error);
    }
  }

  private tell(listener: Listener<T>, view: AnyView<T> | undefined): void {
    if (listener.joinedAt === LEFT) return;
    try {
      if (view === undefined) listener.onFailure(this.error!);
      else listener.onView(view);
    } catch (error) {
      this.environment.uncaught(error);
    }
  }
}
