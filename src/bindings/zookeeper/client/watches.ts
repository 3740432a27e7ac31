/** The watches of each node. The client keeps them, so that a new connection can restore them. */
import type { Chroot } from './path.ts';
import type { JuteReader } from './jute.ts';

/** A change of a watched node. */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'data-changed' | 'children-changed';
  readonly path: string;
}

export type WatchListener = (event: WatchEvent) => void;

/**
 * The kinds of watches: those for one change (`data`, `exists`, `children`), and those that stay
 * until removed.
 */
export type WatchKind = 'data' | 'exists' | 'children' | 'persistent' | 'recursive';

const EVENT_TYPES: Readonly<Record<number, WatchEvent['type']>> = {
  1: 'created',
  2: 'deleted',
  3: 'data-changed',
  4: 'children-changed',
};

const CONSUMED_WATCH_KINDS: Readonly<Record<WatchEvent['type'], readonly WatchKind[]>> = {
  created: ['data', 'exists'],
  deleted: ['data', 'exists', 'children'],
  'data-changed': ['data', 'exists'],
  'children-changed': ['children'],
};

export const WATCH_KINDS: readonly WatchKind[] = [
  'data',
  'exists',
  'children',
  'persistent',
  'recursive',
];
/** Approximate maximum of bytes of paths in one request that restores watches. */
const MAX_REARM_BYTES = 128 * 1024;

/** Watched paths, one array for each kind. */
export type RearmBatch = Readonly<Record<WatchKind, string[]>>;

export class Watches {
  readonly #listeners: Readonly<Record<WatchKind, Map<string, Set<WatchListener>>>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
    persistent: new Map(),
    recursive: new Map(),
  };
  /**
   * The number of requests in flight that set a watch, by path. The server may have set it before
   * the reply arrives.
   */
  readonly #requestCounts = new Map<string, number>();
  readonly #onUncaught: (error: unknown) => void;

  constructor(onUncaught: (error: unknown) => void) {
    this.#onUncaught = onUncaught;
  }

  add(kind: WatchKind, path: string, listener: WatchListener): void {
    const listeners = this.#listeners[kind].get(path);
    if (listeners === undefined) this.#listeners[kind].set(path, new Set([listener]));
    else listeners.add(listener);
  }

  remove(kind: WatchKind, path: string, listener: WatchListener): void {
    const listeners = this.#listeners[kind].get(path);
    if (listeners?.delete(listener) === true && listeners.size === 0)
      this.#listeners[kind].delete(path);
  }

  /** Notes a request that sets a watch. Returns a function to call when it has ended. */
  beginRequest(path: string): () => void {
    this.#requestCounts.set(path, (this.#requestCounts.get(path) ?? 0) + 1);
    return () => {
      const left = (this.#requestCounts.get(path) ?? 0) - 1;
      if (left > 0) this.#requestCounts.set(path, left);
      else this.#requestCounts.delete(path);
    };
  }

  isWatched(path: string, kind: WatchKind): boolean {
    return this.#listeners[kind].has(path);
  }

  /** Returns whether the path has no watch, and no request for one in flight. */
  isUnused(path: string): boolean {
    return (
      !this.#requestCounts.has(path) && !WATCH_KINDS.some((kind) => this.isWatched(path, kind))
    );
  }

  /** Notifies the listeners. Paths are those of the application. */
  dispatch(event: WatchEvent): void {
    const reported = new Set<WatchListener>();
    for (const kind of CONSUMED_WATCH_KINDS[event.type]) {
      for (const listener of this.#listeners[kind].get(event.path) ?? []) reported.add(listener);
      this.#listeners[kind].delete(event.path);
    }
    for (const listener of this.#listeners.persistent.get(event.path) ?? []) reported.add(listener);
    // A recursive watch reports changes of nodes, but no changes of the list of children.
    if (event.type !== 'children-changed') {
      for (const path of getSelfAndAncestors(event.path)) {
        for (const listener of this.#listeners.recursive.get(path) ?? []) reported.add(listener);
      }
    }
    for (const listener of reported) {
      try {
        listener(event);
      } catch (error) {
        this.#onUncaught(error);
      }
    }
  }

  /** Splits all watched paths into parts that each fit into one request. */
  *getRearmBatches(): Generator<RearmBatch> {
    let portion = createEmptyBatch();
    let bytes = 0;
    for (const kind of WATCH_KINDS) {
      for (const path of this.#listeners[kind].keys()) {
        portion[kind].push(path);
        bytes += path.length + 4;
        if (bytes < MAX_REARM_BYTES) continue;
        yield portion;
        portion = createEmptyBatch();
        bytes = 0;
      }
    }
    if (bytes > 0) yield portion;
  }
}

function createEmptyBatch(): RearmBatch {
  return { data: [], exists: [], children: [], persistent: [], recursive: [] };
}

function getSelfAndAncestors(path: string): string[] {
  const paths = [path];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    paths.push(path.slice(0, at));
  if (path !== '/') paths.push('/');
  return paths;
}

/** Reads a notification. Returns `undefined` if the notification does not concern a node. */
export function readWatchEvent(reader: JuteReader, chroot: Chroot): WatchEvent | undefined {
  const type = EVENT_TYPES[reader.int()];
  reader.int();
  const path = chroot.toClientPath(reader.string());
  return type === undefined ? undefined : { type, path };
}
