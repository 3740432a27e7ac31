/**
 * One read of a client, shared by all components that ask for it: its best view, its request in flight, and the changes
 * of writes in flight that are shown on top.
 */
import { isOlder } from '../correctable/binding.ts';
import type { AnyClient, InvokeOptions, Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import { structurallyEqual } from '../correctable/structural-equality.ts';
import type { AnyView } from '../correctable/view.ts';
import type { RequestStatus } from './fields.ts';

/**
 * How long a read is kept after the last component has left it, in milliseconds. One that no component has mounted yet is
 * kept as long: React does not report a render that it gave up.
 */
export const DEFAULT_KEEP_MS = 30_000;

/**
 * React renders a component that throws once more before it asks the error boundary. A render that comes later, in
 * milliseconds, is one that was asked to try again.
 */
const REACT_RETRY_MS = 100;

/** What a write in flight changes in the value of a read. */
interface Change {
  readonly apply: ((value: unknown) => unknown) | undefined;
  /** Whether the write has closed, so that the next read shows its effect. */
  isSettled?: boolean;
}

/** How React marks a promise that it need not wait for. */
type TrackedPromise = Promise<void> & { status?: 'fulfilled' };

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
  /** Returns the view for components that show this rank or a stronger one, if there is one. */
  getView(rank: number): AnyView | undefined;
  /** The views that the server has rendered, in the order of their arrival: hydration starts with them. */
  readonly rendered: readonly AnyView[];
  /** Returns whether there is a view of this rank. If not, asks for one, or throws the error of the component's request. */
  ensureView(rank: number): boolean;
  /** Returns a promise that resolves when there is a view of this rank, or the request has ended without one. */
  wait(rank: number): Promise<void>;
  /** Returns the promise that components have waited for, if any. */
  getAwaited(rank: number): Promise<void> | undefined;
  /** Asks for what is stronger than the view at hand, or for the strongest level if that may be outdated. */
  request(): void;
  /** Asks again. A request in flight is as good. */
  refresh(): void;
  /** Asks again if a component shows it. */
  refreshIfShown(): void;
  /** Handles a write to what is read: cancels the request in flight, which may return the state before it, and asks again. */
  invalidate(): void;
  /**
   * Shows `apply(value)` until the write has closed and a later read has its effect. Without `apply`, the value stays. Call
   * the returned function when the write has closed. After the last write, it asks again.
   */
  addChange(apply: Change['apply']): (isUndone: boolean) => void;
  /** Adds a component. The returned function removes it. */
  join(listener: () => void, keepMs: number): () => void;
  /** Takes the views that a server has rendered, unless the read has a view. */
  hydrate(views: readonly AnyView[]): void;
  /** Returns the view that a page starts with: the same on the server and in the browser. */
  getRendered(rank: number): AnyView | undefined;
}

export function createSharedRead({ client, operation, session, all, id }: ReadContext): SharedRead {
  const { levels } = client;
  const listeners = new Set<() => void>();
  /** By rank. Those that no view has resolved yet have a resolver. */
  const promises = new Map<number, TrackedPromise>();
  const resolvers = new Map<number, () => void>();
  const rendered: AnyView[] = [];
  let view: AnyView | undefined;
  let shown: AnyView | undefined;
  let error: CorrectableError | undefined;
  let changes: Change[] = [];
  let request: Correctable<unknown, Levels, string> | undefined;
  /** Whether the view may be outdated, so that only the strongest level is as good. */
  let isStale = false;
  /** Whether a component waits for the request, and its error boundary has not shown the error yet. */
  let isAwaited = false;
  /** Whether all components have left. */
  let isLeft = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let errorTimer: ReturnType<typeof setTimeout> | undefined;

  const getRank = ({ level }: AnyView): number => levels.indexOf(level);
  const hasReached = (rank: number, item = view): boolean => !!item && (item.final || getRank(item) >= rank);
  const isWriting = (): boolean => changes.some((change) => !change.isSettled);

  const read: SharedRead = {
    operation,
    session,
    rendered,
    get view() {
      return view;
    },
    getView(rank) {
      // What a write in flight changes is weaker than all but the weakest level.
      return hasReached(rank) ? (rank > 0 ? view : shown) : undefined;
    },
    get error() {
      return error;
    },
    get isRequesting() {
      return !!request || changes.length > 0 || !(error || view?.final);
    },
    ensureView(rank) {
      if (hasReached(rank)) return true;
      if (error && isAwaited && !request) {
        errorTimer ??= setTimeout(() => {
          errorTimer = undefined;
          isAwaited = false;
        }, REACT_RETRY_MS);
        throw error;
      }
      send();
      isAwaited = true;
      return false;
    },
    wait(rank) {
      if (!promises.has(rank)) {
        promises.set(rank, new Promise((resolve) => resolvers.set(rank, resolve)));
        resolvePromises();
      }
      return promises.get(rank)!;
    },
    getAwaited: (rank) => promises.get(rank),
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
      if (!isLeft || resolvers.size > 0) send();
      else if (changes.length === 0) {
        view = undefined;
        promises.clear();
      }
      notify();
    },
    addChange(apply) {
      const change: Change = { apply };
      changes.push(change);
      // A view of this request may have the effect of the write, or not. It could count twice.
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
      // If the request failed while the component waited for its first view, do not retry at once.
      if (!error || !isAwaited) send();
      isAwaited = false;
      // Other components show that a request is on its way.
      notify();
      return () => {
        listeners.delete(listener);
        // A component that moves, and StrictMode, come back in the same tick.
        queueMicrotask(() => {
          if (listeners.size > 0) return;
          isLeft = true;
          if (resolvers.size === 0) cancel();
          expireAfter(keepMs);
        });
      };
    },
    hydrate(views) {
      if (view) return;
      rendered.push(...views);
      view = views.at(-1);
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
    const sent = client.invoke(operation, { levels: levels.slice(from), session } as InvokeOptions);
    request = sent;
    isAwaited = false;
    sent.subscribe({
      next: (next) => request === sent && accept(next),
      error(failure) {
        if (request !== sent) return;
        request = undefined;
        error = failure;
        notify();
      },
    });
  }

  function accept(next: AnyView): void {
    if (next.final) {
      request = undefined;
      isStale = false;
      if (!isWriting()) changes = [];
    } else if (isOlder(next.version, view?.version)) return;
    const isSame = view && structurallyEqual(view.value, next.value);
    view = isSame ? { ...next, value: view!.value, confirms: true } : next;
    error = undefined;
    // Changes of writes in flight go on top of this first view. Later views may have their effect already.
    if (isWriting()) cancel();
    notify();
  }

  function cancel(): void {
    const canceled = request;
    request = undefined;
    canceled?.cancel();
  }

  function notify(): void {
    shown = view;
    // The client guessed this value, so its level is the weakest.
    if (view && changes.length > 0)
      shown = {
        ...view,
        value: changes.reduce((value, { apply }) => (apply ? apply(value) : value), view.value),
        level: levels[0],
        final: false,
        confirms: false,
      };
    resolvePromises();
    [...listeners].forEach((listener) => listener());
  }

  function resolvePromises(): void {
    for (const [rank, resolve] of resolvers) {
      if (request && !hasReached(rank)) continue;
      const promise = promises.get(rank)!;
      if (hasReached(rank)) promise.status = 'fulfilled';
      else promises.delete(rank);
      resolvers.delete(rank);
      resolve();
    }
  }

  function expireAfter(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (changes.length > 0) return expireAfter(delayMs);
      all.delete(id);
      cancel();
      return resolvePromises();
    }, delayMs);
    // A browser's timer is a number.
    (timer as { unref?: () => void }).unref?.();
  }

  all.set(id, read);
  expireAfter(DEFAULT_KEEP_MS);
  return read;
}
