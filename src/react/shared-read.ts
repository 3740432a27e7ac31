/**
 * One read of a client, shared by all components that request it: its best view, its request in
 * flight, and the changes of writes in flight that are shown on top.
 */
import type { Timer } from '../correctable/clock.ts';
import { isOlder } from '../correctable/binding.ts';
import type { AnyClient, InvokeOptions, Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import { structurallyEqual } from '../correctable/structural-equality.ts';
import type { AnyView } from '../correctable/view.ts';
import { reportCommit, startIdleTimer, type Witness } from './commit-witness.ts';
import type { RequestStatus } from './fields.ts';

/** How long a read is kept while no component uses it, in milliseconds. */
export const DEFAULT_KEEP_MS = 30_000;

/**
 * React does not report that it gave up a suspended component. So suspended components are asked to
 * render again after this time, in milliseconds. If no component does so within the same time
 * again, all count as unmounted.
 */
const PING_MS = 1_000;

/** The level of a value that includes the changes of writes in flight. */
export const OPTIMISTIC = 'optimistic';

/** The change that a write in flight makes to the value of a read. */
interface Change {
  readonly apply: ((value: unknown) => unknown) | undefined;
  /** Whether the write has closed, so that the next read shows its effect. */
  isSettled?: boolean;
}

/**
 * The object that suspended components wait for. React renders them again when it calls back.
 * Unlike a promise, it can call back while it is pending.
 */
export interface Wakeable {
  status: 'pending' | 'fulfilled';
  // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
  then(wake: () => void): void;
}

/** An error that is passed to the error boundaries. */
interface ThrownError {
  readonly error: CorrectableError;
  /** Whether a component has thrown the error. */
  isRendered: boolean;
  /** Whether the next commit is awaited. */
  isWatched: boolean;
}

/** The facts of the client that a read needs. */
export interface ReadContext {
  readonly client: AnyClient;
  readonly operation: Operation;
  readonly session: Session | undefined;
  /** All reads of the client, in which this one has the key `id`. */
  readonly all: Map<string, SharedRead>;
  readonly id: string;
}

/**
 * Returns `next` as the view that follows `last`, which may come from an earlier request. `seq`
 * counts the values of all requests.
 */
function follow(last: AnyView | undefined, next: AnyView): AnyView {
  if (!last) return next;
  const isSame = structurallyEqual(last.value, next.value);
  return isSame
    ? { ...next, value: last.value, confirms: true, seq: last.seq }
    : { ...next, seq: last.seq + 1 };
}

export class SharedRead implements RequestStatus {
  readonly operation: Operation;
  readonly session: Session | undefined;
  /**
   * The views that the server has rendered, in the order of their arrival: hydration starts with
   * them.
   */
  readonly rendered: AnyView[] = [];
  readonly #client: AnyClient;
  readonly #all: Map<string, SharedRead>;
  readonly #id: string;

  readonly #listeners = new Set<() => void>();
  /**
   * Pending prefetches, by the function that resolves each, with the rank of the level that it
   * waits for.
   */
  readonly #prefetches = new Map<() => void, number>();
  /** The objects that suspended components wait for, by rank. */
  readonly #awaited = new Map<number, Wakeable>();
  /** Callbacks that render suspended components again. */
  readonly #wakers = new Set<() => void>();
  /** The witnesses of the pages on which components wait for a view. */
  readonly #witnesses = new Set<Witness>();

  #view: AnyView | undefined;
  /** The view for components that also show values with the changes of writes in flight. */
  #shown: AnyView | undefined;
  /**
   * The view that these components show once no write is in flight. Its `confirms` compares it with
   * what they showed before, the changes of writes included.
   */
  #unguessed: AnyView | undefined;
  #error: CorrectableError | undefined;
  #changes: Change[] = [];
  #request: Correctable<unknown, Levels, string> | undefined;
  /** Whether the view may be outdated, so that only the strongest level is requested next. */
  #isStale = false;
  /** Whether a component waits for the request, or has waited for it and is not mounted yet. */
  #isAwaited = false;
  /**
   * The error of a request that components wait for. It is kept until React has committed the error
   * boundary.
   */
  #thrown: ThrownError | undefined;
  /** Whether no component uses the read any more. */
  #isLeft = false;
  /** Whether the read is to be dropped once no write is in flight. */
  #isExpired = false;
  #keepMs = DEFAULT_KEEP_MS;
  #timer: Timer | undefined;

  constructor({ client, operation, session, all, id }: ReadContext) {
    this.#client = client;
    this.operation = operation;
    this.session = session;
    this.#all = all;
    this.#id = id;
    all.set(id, this);
    this.#expireAfter(DEFAULT_KEEP_MS);
  }

  /** The best view so far. */
  get view(): AnyView | undefined {
    return this.#view;
  }

  get error(): CorrectableError | undefined {
    return this.#error;
  }

  get isRequesting(): boolean {
    if (this.#request || this.#isWriting()) return true;
    // If the read after a write has failed, no request follows by itself.
    return !this.#error && !(this.#view?.final && !this.#changes.length);
  }

  /** Returns the view for components that show this rank or a stronger one, if there is one. */
  getView(rank: number): AnyView | undefined {
    if (!this.#hasReached(rank)) return undefined;
    // A value with the changes of writes in flight is weaker than all but the weakest level.
    return rank > 0 ? this.#view : this.#shown;
  }

  /**
   * Returns a promise that resolves when there is a view of this rank, or the request has ended
   * without one.
   */
  wait(rank: number): Promise<void> {
    return new Promise((resolve) => {
      this.#prefetches.set(resolve, rank);
      this.#resolveWaiting();
    });
  }

  /**
   * Returns what a suspended component waits for, `pending` until there is a view of this rank.
   * Requests that view. If a component has waited for the request and it failed, throws its error
   * until the error boundary shows it. Cancels the request if React gives up the component.
   */
  await(rank: number, keepMs: number, witness: Witness | undefined): Wakeable | undefined {
    if (this.#hasReached(rank)) return this.#awaited.get(rank);

    if (witness) this.#witnesses.add(witness);
    if (this.#thrown) {
      this.#thrown.isRendered = true;
      this.#watchCommit(this.#thrown);
      throw this.#thrown.error;
    }

    this.request();
    witness?.suspend();
    this.#isAwaited = true;
    let item = this.#awaited.get(rank);
    if (!item) {
      // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
      item = { status: 'pending', then: (wake) => this.#wakers.add(wake) };
      this.#awaited.set(rank, item);
    }
    if (!this.#listeners.size) this.#watch(keepMs);
    return item;
  }

  /**
   * Requests the levels above the present view, or only the strongest level if the view may be
   * outdated.
   */
  request(): void {
    const view = this.#view;
    if (this.#request) return;
    if (view && (this.#isWriting() || (view.final && !this.#isStale))) return;

    const { levels } = this.#client;
    const rank = view ? this.#getRank(view) + 1 : 0;
    const from = this.#isStale ? levels.length - 1 : rank;
    const sent = this.#client.invoke(this.operation, {
      levels: levels.slice(from),
      session: this.session,
    } as InvokeOptions);
    this.#request = sent;
    this.#isAwaited = false;
    this.#thrown = undefined;
    sent.subscribe({
      next: (next) => this.#request === sent && this.#accept(next),
      error: (failure) => this.#request === sent && this.#fail(failure),
    });
  }

  /** Sends a new request, unless one is in flight. */
  readonly refresh = (): void => {
    if (this.#request) return;
    this.#isStale ||= !!this.#view?.final;
    this.request();
    this.#notify();
  };

  /** Sends a new request if a component shows the read. */
  refreshIfShown(): void {
    if (this.#listeners.size) this.refresh();
  }

  /**
   * Handles a write to the value of this read. Cancels the request in flight, which may return the
   * state before the write, and sends a new one.
   */
  invalidate(): void {
    this.#cancel();
    this.#isStale = true;
    // A component may have rendered without having called `join` yet.
    if (!this.#isLeft || this.#prefetches.size) this.request();
    else if (!this.#changes.length) {
      this.#unguessed = this.#view = undefined;
      this.#awaited.clear();
    }
    this.#notify();
  }

  /**
   * Shows `apply(value)` until the write has closed and a later read has its effect. Without
   * `apply`, the value stays. Call the returned function when the write has closed. After the last
   * write, it sends a new request.
   */
  addChange(apply: Change['apply']): (isUndone: boolean) => void {
    const change: Change = { apply };
    this.#changes.push(change);
    // A view of this request may already include the effect of the write. The change would then
    // count twice.
    if (this.#view) this.#cancel();
    this.#notify();
    return (isUndone) => {
      change.isSettled = true;
      if (isUndone) this.#changes = this.#changes.filter((item) => item !== change);
      if (this.#isWriting()) return this.#notify();
      if (this.#isExpired) this.#drop();
      else this.invalidate();
    };
  }

  /** Adds a component. The returned function removes it. */
  join(listener: () => void, keepMs: number): () => void {
    this.#listeners.add(listener);
    this.#timer?.cancel();
    this.#isLeft = this.#isExpired = false;
    // The read was dropped while the component was hidden.
    if (this.#all.get(this.#id) !== this) {
      this.#all.set(this.#id, this);
      this.#isStale = true;
    }
    // If a request has just failed while the component waited for its first view, do not retry at
    // once.
    if (!this.#error || !this.#isAwaited) this.request();
    this.#isAwaited = false;
    // Notify the other components that use the read: a request is now in flight.
    this.#notify();
    return () => {
      this.#listeners.delete(listener);
      // Check after this tick: in StrictMode, or if a component moves, React adds it again in the
      // same tick.
      queueMicrotask(() => this.#leaveIfUnused(keepMs));
    };
  }

  /** Takes the views that a server has rendered, unless the read has a view. */
  hydrate(views: readonly AnyView[]): void {
    if (this.#view) return;
    this.rendered.push(...views);
    this.#unguessed = this.#view = views.at(-1);
    this.#notify();
  }

  /** Returns the view that a page starts with: the same on the server and in the browser. */
  getRendered(rank: number): AnyView | undefined {
    let start = this.rendered.find((item) => this.#hasReached(rank, item));
    if (!start && this.#view) this.rendered.push((start = this.#view));
    return start;
  }

  #getRank({ level }: AnyView): number {
    return this.#client.levels.indexOf(level);
  }

  #hasReached(rank: number, item = this.#view): boolean {
    return !!item && (item.final || this.#getRank(item) >= rank);
  }

  #isWriting(): boolean {
    return this.#changes.some((change) => !change.isSettled);
  }

  #fail(error: CorrectableError): void {
    this.#request = undefined;
    this.#error = error;
    const isWaiting = [...this.#awaited.values()].some(({ status }) => status === 'pending');
    if (isWaiting) {
      this.#thrown = { error, isRendered: false, isWatched: false };
      this.#watchCommit(this.#thrown);
    }
    this.#notify();
  }

  #accept(next: AnyView): void {
    const guess = this.#changes.length ? this.#shown : undefined;
    if (next.final) {
      this.#request = undefined;
      this.#isStale = false;
      if (!this.#isWriting()) this.#changes = [];
    } else if (isOlder(next.version, this.#view?.version)) return;
    this.#view = follow(this.#view, next);
    this.#unguessed = guess ? follow(guess, { ...next, confirms: false }) : this.#view;
    this.#error = undefined;
    // Changes of writes in flight are applied to this first view. Later views of the request may
    // include their effect already, so the request is canceled.
    if (this.#isWriting()) this.#cancel();
    this.#notify();
  }

  /**
   * React renders a failed component again and again until its boundary shows the error. A
   * component that renders after that is a new one, or its boundary was reset, so it sends a new
   * request.
   */
  #watchCommit(item: ThrownError): void {
    if (item.isWatched) return;
    item.isWatched = true;
    reportCommit(this.#witnesses, () => {
      item.isWatched = false;
      if (this.#thrown === item && (item.isRendered || this.#isLeft)) this.#thrown = undefined;
    });
  }

  #cancel(): void {
    const canceled = this.#request;
    this.#request = undefined;
    canceled?.cancel();
  }

  #notify(): void {
    this.#shown = this.#unguessed;
    // The value includes the changes of writes in flight. No store has returned it, so it has the
    // level `optimistic`.
    if (this.#view && this.#changes.length)
      this.#shown = {
        ...this.#view,
        value: this.#changes.reduce(
          (value, { apply }) => (apply ? apply(value) : value),
          this.#view.value,
        ),
        level: OPTIMISTIC,
        final: false,
        confirms: false,
      };
    this.#resolveWaiting();
    [...this.#listeners].forEach((listener) => listener());
  }

  #resolveWaiting(): void {
    for (const [resolve, rank] of this.#prefetches)
      if (!this.#request || this.#hasReached(rank)) {
        this.#prefetches.delete(resolve);
        resolve();
      }

    let isDone = !this.#request;
    for (const [rank, item] of this.#awaited) {
      if (item.status !== 'pending') continue;
      if (this.#hasReached(rank)) {
        item.status = 'fulfilled';
        isDone = true;
      } else if (!this.#request) this.#awaited.delete(rank);
    }
    if (!isDone || !this.#wakers.size) return;
    this.#wake();
    if (!this.#listeners.size) this.#watch(this.#keepMs);
  }

  #wake(): void {
    const woken = [...this.#wakers];
    this.#wakers.clear();
    // React may be rendering now, so it is called back later, as by a promise.
    woken.forEach(queueMicrotask);
  }

  /**
   * Asks suspended components to render again. Ends when they are mounted or request a view again,
   * or count as unmounted.
   */
  #watch(keepMs: number): void {
    this.#keepMs = keepMs;
    this.#isLeft = this.#isExpired = false;
    this.#startTimer(PING_MS, () => {
      this.#startTimer(PING_MS, () => this.#leave(keepMs));
      this.#wake();
    });
  }

  #leaveIfUnused(keepMs: number): void {
    if (this.#listeners.size) return;
    if (this.#wakers.size) this.#watch(keepMs);
    else this.#leave(keepMs);
  }

  #leave(keepMs: number): void {
    this.#isLeft = true;
    this.#wakers.clear();
    for (const [rank, { status }] of this.#awaited)
      if (status === 'pending') this.#awaited.delete(rank);
    if (!this.#thrown?.isWatched) this.#thrown = undefined;
    if (!this.#prefetches.size) this.#cancel();
    this.#expireAfter(keepMs);
  }

  #startTimer(delayMs: number, onTime: () => void): void {
    this.#timer?.cancel();
    this.#timer = startIdleTimer(onTime, delayMs);
  }

  /**
   * Drops the read after a time. If a write is in flight then, its end drops the read, so that a
   * component that comes back meanwhile shows its change.
   */
  #expireAfter(delayMs: number): void {
    this.#startTimer(delayMs, () => {
      if (this.#isWriting()) this.#isExpired = true;
      else this.#drop();
    });
  }

  #drop(): void {
    this.#all.delete(this.#id);
    this.#cancel();
    this.#resolveWaiting();
  }
}
