/**
 * The outcome of one operation so far, and who hears of it: deliveries in one order for everybody, whatever callbacks
 * do meanwhile (C4).
 */
import type { ViewDetails } from './binding.ts';
import { Deferred } from './deferred.ts';
import type { Environment } from './environment.ts';
import type { CorrectableError } from './errors.ts';
import type { Listener } from './listener.ts';
import { LEFT } from './listener.ts';
import type { AnyView } from './view.ts';

export type State = 'updating' | 'final' | 'error';

/** What few operations need, so that the others do not pay for it. */
export interface Extras {
  error?: CorrectableError;
  /** Runs callbacks in the async context of the invocation, where the client asks for that. */
  runInContext?: (callback: () => void) => void;
  /** Deliveries that arose inside a delivery; `undefined` stands for the failure. */
  queue?: (AnyView | undefined)[];
  /** When the operation that this one is derived from times out. */
  deadlineAt?: number | undefined;
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

export class Audience<T> {
  readonly environment: Environment;
  state: State = 'updating';
  latest: AnyView<T> | undefined = undefined;
  /** Whether somebody sees a failure (C5). */
  observed = false;
  /** Views and failures so far, delivered or queued for delivery. */
  accepted = 0;
  extras: Extras | undefined = undefined;
  #head: Listener<T> | undefined = undefined;
  #tail: Listener<T> | undefined = undefined;
  #deferred: Deferred<T> | undefined = undefined;
  #delivering = false;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  get error(): CorrectableError | undefined {
    return this.extras?.error;
  }

  more(): Extras {
    return (this.extras ??= {});
  }

  /** Tells `listener` the latest view, not inside this call, and then what follows; after the end, the outcome. */
  join(listener: Listener<T>): void {
    if (this.state !== 'updating') {
      queueMicrotask(() => {
        if (listener.joinedAt !== LEFT) this.#tell(listener, this.state === 'final' ? this.latest : undefined);
      });
      return;
    }
    listener.joinedAt = this.accepted;
    listener.before = this.#tail;
    if (this.#tail === undefined) this.#head = listener;
    else this.#tail.after = listener;
    this.#tail = listener;
    if (this.latest !== undefined) {
      listener.missed = this.latest;
      queueMicrotask(() => this.#catchUp(listener));
    }
  }

  leave(listener: Listener<T>): void {
    if (listener.joinedAt === LEFT) return;
    listener.joinedAt = LEFT;
    listener.missed = undefined;
    const { before, after } = listener;
    if (before !== undefined) before.after = after;
    else if (this.#head === listener) this.#head = after;
    if (after !== undefined) after.before = before;
    else if (this.#tail === listener) this.#tail = before;
    listener.before = undefined;
    // A delivery under way may stand on this listener and needs the way on.
    if (!this.#delivering) listener.after = undefined;
  }

  /** The one promise of the final value; whoever asks for it sees a failure. */
  promise(): Promise<T> {
    this.observed = true;
    if (this.#deferred === undefined) {
      this.#deferred = new Deferred();
      this.#settlePromise();
    }
    return this.#deferred.promise;
  }

  /** Tells everybody the view; `undefined` stands for the failure. */
  protected deliver(view: AnyView<T> | undefined): void {
    this.accepted++;
    if (this.#deferred !== undefined) this.#settlePromise();
    if (this.#delivering) (this.more().queue ??= []).push(view);
    else if (this.#head !== undefined) this.#deliverAll(view);
  }

  #deliverAll(first: AnyView<T> | undefined): void {
    this.#delivering = true;
    this.#tellAll(first, this.accepted);
    // Read after the first delivery, which may have made it.
    const queue = this.extras?.queue ?? [];
    while (queue.length > 0) {
      const number = this.accepted - queue.length + 1;
      this.#tellAll(queue.shift() as AnyView<T> | undefined, number);
    }
    this.#delivering = false;
    if (this.state !== 'updating') this.#head = this.#tail = undefined;
  }

  #tellAll(view: AnyView<T> | undefined, number: number): void {
    for (let listener = this.#head; listener !== undefined; listener = listener.after) {
      if (listener.joinedAt >= number) continue;
      if (listener.missed !== undefined) this.#catchUp(listener);
      this.#tell(listener, view);
    }
  }

  #catchUp(listener: Listener<T>): void {
    const { missed } = listener;
    listener.missed = undefined;
    if (missed !== undefined) this.#tell(listener, missed);
  }

  #tell(listener: Listener<T>, view: AnyView<T> | undefined): void {
    if (listener.joinedAt === LEFT) return;
    const run = this.extras?.runInContext;
    if (run === undefined) this.#call(listener, view);
    else run(() => this.#call(listener, view));
  }

  #call(listener: Listener<T>, view: AnyView<T> | undefined): void {
    try {
      if (view === undefined) listener.onError?.(this.error!);
      else if (view.final) listener.onFinal?.(view.value, view);
      else listener.onUpdate?.(view.value, view);
    } catch (error) {
      this.environment.uncaught(error);
    }
  }

  #settlePromise(): void {
    if (this.state === 'final') this.#deferred!.resolve(this.latest!.value);
    else if (this.state === 'error') this.#deferred!.reject(this.error);
  }
}
