/**
 * One read of a client, shared by all components that ask for it: its best
 * view, its request in flight, and the changes of writes in flight that are
 * shown on top.
 */
import { isOlder } from '../correctable/binding.ts';
import type {
  AnyClient,
  InvokeOptions,
  Session,
} from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import { structurallyEqual } from '../correctable/structural-equality.ts';
import type { AnyView } from '../correctable/view.ts';
import { reportCommit, type Witness } from './commit-witness.ts';
import type { RequestStatus } from './fields.ts';

/**
 * How long a read is kept after the last component has left it, or if none asks
 * for it, in milliseconds.
 */
export const DEFAULT_KEEP_MS = 30_000;

/**
 * React does not report that it gave up a suspended component. So suspended
 * components are asked to render again after this time, in milliseconds. If
 * none does within the same time again, they count as left.
 */
const PING_MS = 1_000;

/** The level of a value that the changes of writes in flight are part of. */
export const OPTIMISTIC = 'optimistic';

/** What a write in flight changes in the value of a read. */
interface Change {
  readonly apply: ((value: unknown) => unknown) | undefined;
  /** Whether the write has closed, so that the next read shows its effect. */
  isSettled?: boolean;
}

/**
 * What suspended components wait for. React renders them again when it calls
 * back. Unlike a promise, it can call back while it is pending.
 */
export interface Wakeable {
  status: 'pending' | 'fulfilled';
  // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
  then(wake: () => void): void;
}

/** An error on its way to the error boundaries. */
interface ThrownError {
  readonly error: CorrectableError;
  /** Whether a component has thrown it. */
  isRendered: boolean;
  /** Whether the next commit is awaited. */
  isWatched: boolean;
}

/** What a read needs of its surroundings. */
export interface ReadContext {
  readonly client: AnyClient;
  readonly operation: Operation;
  readonly session: Session | undefined;
  /** Where components find reads, and the place of this one. */
  readonly all: Map<string, SharedRead>;
  readonly id: string;
}

export interface SharedRead extends RequestStatus {
  readonly operation: Operation;
  readonly session: Session | undefined;
  /** The best view so far. */
  readonly view: AnyView | undefined;
  /**
   * Returns the view for components that show this rank or a stronger one, if
   * there is one.
   */
  getView(rank: number): AnyView | undefined;
  /**
   * The views that the server has rendered, in the order of their arrival:
   * hydration starts with them.
   */
  readonly rendered: readonly AnyView[];
  /**
   * Returns a promise that resolves when there is a view of this rank, or the
   * request has ended without one.
   */
  wait(rank: number): Promise<void>;
  /**
   * Returns what a suspended component waits for, `pending` until there is a
   * view of this rank. Asks for that view, or throws the error of the request
   * that a component has waited for, until the error boundary shows it. Cancels
   * the request if React gives that component up.
   */
  await(
    rank: number,
    keepMs: number,
    witness: Witness | undefined,
  ): Wakeable | undefined;
  /**
   * Asks for what is stronger than the view at hand, or for the strongest level
   * if that may be outdated.
   */
  request(): void;
  /** Asks again. A request in flight is as good. */
  refresh(): void;
  /** Asks again if a component shows it. */
  refreshIfShown(): void;
  /**
   * Handles a write to what is read: cancels the request in flight, which may
   * return the state before it, and asks again.
   */
  invalidate(): void;
  /**
   * Shows `apply(value)` until the write has closed and a later read has its
   * effect. Without `apply`, the value stays. Call the returned function when
   * the write has closed. After the last write, it asks again.
   */
  addChange(apply: Change['apply']): (isUndone: boolean) => void;
  /** Adds a component. The returned function removes it. */
  join(listener: () => void, keepMs: number): () => void;
  /** Takes the views that a server has rendered, unless the read has a view. */
  hydrate(views: readonly AnyView[]): void;
  /**
   * Returns the view that a page starts with: the same on the server and in the
   * browser.
   */
  getRendered(rank: number): AnyView | undefined;
}

/**
 * Returns `next` as the view after `last`, of an earlier request perhaps: `seq`
 * counts the values of all requests.
 */
function follow(last: AnyView | undefined, next: AnyView): AnyView {
  if (!last) return next;
  const isSame = structurallyEqual(last.value, next.value);
  return isSame
    ? { ...next, value: last.value, confirms: true, seq: last.seq }
    : { ...next, seq: last.seq + 1 };
}

export function createSharedRead({
  client,
  operation,
  session,
  all,
  id,
}: ReadContext): SharedRead {
  const { levels } = client;
  const listeners = new Set<() => void>();
  /**
   * Prefetches that wait, by their resolver, with the rank that they wait for.
   */
  const prefetches = new Map<() => void, number>();
  /** By rank. */
  const awaited = new Map<number, Wakeable>();
  /** Renders suspended components again. */
  const wakers = new Set<() => void>();
  const rendered: AnyView[] = [];
  let view: AnyView | undefined;
  /** The view for components that show guesses. */
  let shown: AnyView | undefined;
  /** The same without the guesses: it confirms or corrects what they showed. */
  let unguessed: AnyView | undefined;
  let error: CorrectableError | undefined;
  let changes: Change[] = [];
  let request: Correctable<unknown, Levels, string> | undefined;
  /**
   * Whether the view may be outdated, so that only the strongest level is as
   * good.
   */
  let isStale = false;
  /**
   * Whether a component waits for the request, or has waited for it and is not
   * mounted yet.
   */
  let isAwaited = false;
  /** The witnesses of the pages on which components wait for a view. */
  const witnesses = new Set<Witness>();
  /**
   * The error of a request that components wait for, until React has committed
   * it.
   */
  let thrown: ThrownError | undefined;
  /** Whether all components have left. */
  let isLeft = false;
  let retentionMs = DEFAULT_KEEP_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const getRank = ({ level }: AnyView): number => levels.indexOf(level);
  const hasReached = (rank: number, item = view): boolean =>
    !!item && (item.final || getRank(item) >= rank);
  const isWriting = (): boolean => changes.some((change) => !change.isSettled);

  const read: SharedRead = {
    operation,
    session,
    rendered,
    get view() {
      return view;
    },
    getView(rank) {
      // What a write in flight changes is weaker than all but the weakest
      // level.
      return hasReached(rank) ? (rank > 0 ? view : shown) : undefined;
    },
    get error() {
      return error;
    },
    get isRequesting() {
      return !!request || changes.length > 0 || !(error || view?.final);
    },
    wait(rank) {
      return new Promise((resolve) => {
        prefetches.set(resolve, rank);
        resolveWaiting();
      });
    },
    await(rank, keepMs, witness) {
      if (hasReached(rank)) return awaited.get(rank);
      if (witness) witnesses.add(witness);
      if (thrown) {
        thrown.isRendered = true;
        watchCommit(thrown);
        throw thrown.error;
      }
      send();
      witness?.suspend();
      isAwaited = true;
      let item = awaited.get(rank);
      // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
      if (!item)
        awaited.set(
          rank,
          (item = { status: 'pending', then: (wake) => wakers.add(wake) }),
        );
      if (listeners.size === 0) watch(keepMs);
      return item;
    },
    request: send,
    refresh() {
      if (request) return;
      isStale ||= !!view?.final;
      send();
      notify();
    },
    refreshIfShown() {
      if (listeners.size > 0) read.refresh();
    },
    invalidate() {
      cancel();
      isStale = true;
      // A component may have rendered, and not joined yet.
      if (!isLeft || prefetches.size > 0) send();
      else if (changes.length === 0) {
        unguessed = view = undefined;
        awaited.clear();
      }
      notify();
    },
    addChange(apply) {
      const change: Change = { apply };
      changes.push(change);
      // A view of this request may have the effect of the write, or not. It
      // could count twice.
      if (view) cancel();
      notify();
      return (isUndone) => {
        change.isSettled = true;
        if (isUndone) changes = changes.filter((item) => item !== change);
        if (isWriting()) notify();
        else read.invalidate();
      };
    },
    join(listener, keepMs) {
      listeners.add(listener);
      clearTimeout(timer);
      isLeft = false;
      // The read was dropped while the component was hidden.
      if (all.get(id) !== read) {
        all.set(id, read);
        isStale = true;
      }
      // If the request failed while the component waited for its first view, do
      // not retry at once.
      if (!error || !isAwaited) send();
      isAwaited = false;
      // Other components show that a request is on its way.
      notify();
      return () => {
        listeners.delete(listener);
        // A component that moves, and StrictMode, come back in the same tick.
        queueMicrotask(() => {
          if (listeners.size > 0) return;
          if (wakers.size > 0) watch(keepMs);
          else leave(keepMs);
        });
      };
    },
    hydrate(views) {
      if (view) return;
      rendered.push(...views);
      unguessed = view = views.at(-1);
      notify();
    },
    getRendered(rank) {
      let start = rendered.find((item) => hasReached(rank, item));
      if (!start && view) rendered.push((start = view));
      return start;
    },
  };

  function send(): void {
    if (request || (view && (isWriting() || (view.final && !isStale)))) return;
    const from = isStale ? levels.length - 1 : view ? getRank(view) + 1 : 0;
    const sent = client.invoke(operation, {
      levels: levels.slice(from),
      session,
    } as InvokeOptions);
    request = sent;
    isAwaited = false;
    thrown = undefined;
    sent.subscribe({
      next: (next) => request === sent && accept(next),
      error(failure) {
        if (request !== sent) return;
        request = undefined;
        error = failure;
        if ([...awaited.values()].some(({ status }) => status === 'pending'))
          watchCommit(
            (thrown = { error: failure, isRendered: false, isWatched: false }),
          );
        notify();
      },
    });
  }

  function accept(next: AnyView): void {
    const guess = changes.length > 0 ? shown : undefined;
    if (next.final) {
      request = undefined;
      isStale = false;
      if (!isWriting()) changes = [];
    } else if (isOlder(next.version, view?.version)) return;
    view = follow(view, next);
    unguessed = guess ? follow(guess, { ...next, confirms: false }) : view;
    error = undefined;
    // Changes of writes in flight go on top of this first view. Later views may
    // have their effect already.
    if (isWriting()) cancel();
    notify();
  }

  /**
   * React renders a failed component again and again until its boundary shows
   * the error. A component that renders after that is a new one, or its
   * boundary was reset: it asks again.
   */
  function watchCommit(item: ThrownError): void {
    if (item.isWatched) return;
    item.isWatched = true;
    reportCommit(witnesses, () => {
      item.isWatched = false;
      if (thrown === item && (item.isRendered || isLeft)) thrown = undefined;
    });
  }

  function cancel(): void {
    const canceled = request;
    request = undefined;
    canceled?.cancel();
  }

  function notify(): void {
    shown = unguessed;
    // The client guessed this value: no store has achieved a level for it.
    if (view && changes.length > 0)
      shown = {
        ...view,
        value: changes.reduce(
          (value, { apply }) => (apply ? apply(value) : value),
          view.value,
        ),
        level: OPTIMISTIC,
        final: false,
        confirms: false,
      };
    resolveWaiting();
    [...listeners].forEach((listener) => listener());
  }

  function resolveWaiting(): void {
    for (const [resolve, rank] of prefetches)
      if (!request || hasReached(rank)) {
        prefetches.delete(resolve);
        resolve();
      }
    let isDone = !request;
    for (const [rank, item] of awaited)
      if (item.status === 'pending' && hasReached(rank)) {
        item.status = 'fulfilled';
        isDone = true;
      } else if (item.status === 'pending' && !request) awaited.delete(rank);
    if (!isDone || wakers.size === 0) return;
    wake();
    if (listeners.size === 0) watch(retentionMs);
  }

  function wake(): void {
    const woken = [...wakers];
    wakers.clear();
    // As a promise does: React may be rendering now.
    woken.forEach(queueMicrotask);
  }

  /** Waits for suspended components to mount, or to ask again. */
  function watch(keepMs: number): void {
    retentionMs = keepMs;
    isLeft = false;
    startTimer(PING_MS, () => {
      startTimer(PING_MS, () => leave(keepMs));
      wake();
    });
  }

  function leave(keepMs: number): void {
    isLeft = true;
    wakers.clear();
    for (const [rank, { status }] of awaited)
      if (status === 'pending') awaited.delete(rank);
    if (!thrown?.isWatched) thrown = undefined;
    if (prefetches.size === 0) cancel();
    expireAfter(keepMs);
  }

  function startTimer(delayMs: number, onTime: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(onTime, delayMs);
    // A browser's timer is a number.
    (timer as { unref?: () => void }).unref?.();
  }

  function expireAfter(delayMs: number): void {
    startTimer(delayMs, () => {
      if (changes.length > 0) return expireAfter(delayMs);
      all.delete(id);
      cancel();
      resolveWaiting();
    });
  }

  all.set(id, read);
  expireAfter(DEFAULT_KEEP_MS);
  return read;
}
