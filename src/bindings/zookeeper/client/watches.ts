/**
 * The watches of each node. The client keeps them, so that a new connection can
 * set them again.
 */
import type { Chroot } from './path.ts';
import type { JuteReader } from './jute.ts';

/** A change of a watched node. */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'data-changed' | 'children-changed';
  readonly path: string;
}

export type WatchListener = (event: WatchEvent) => void;

/**
 * What is watched: once each (`data`, `exists`, `children`) or until removed.
 */
export type WatchKind =
  | 'data'
  | 'exists'
  | 'children'
  | 'persistent'
  | 'recursive';

const EVENT_TYPES: Readonly<Record<number, WatchEvent['type']>> = {
  1: 'created',
  2: 'deleted',
  3: 'data-changed',
  4: 'children-changed',
};

const CONSUMED_WATCH_KINDS: Readonly<
  Record<WatchEvent['type'], readonly WatchKind[]>
> = {
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
/** Paths of about this many bytes go into one request to watch again. */
const MAX_REARM_BYTES = 128 * 1024;

/** Watched paths, one list a kind. */
export type RearmBatch = Readonly<Record<WatchKind, string[]>>;

export class Watches {
  readonly #listeners: Readonly<
    Record<WatchKind, Map<string, Set<WatchListener>>>
  > = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
    persistent: new Map(),
    recursive: new Map(),
  };
  /**
   * How many questions are in flight that leave a watch at a path: the server
   * may have it before the answer is here.
   */
  readonly #requestCounts = new Map<string, number>();
  readonly #onUncaught: (error: unknown) => void;

  constructor(onUncaught: (error: unknown) => void) {
    this.#onUncaught = onUncaught;
  }

  add(kind: WatchKind, path: string, listener: WatchListener): void {
    const listeners = this.#listeners[kind].get(path);
    if (listeners === undefined)
      this.#listeners[kind].set(path, new Set([listener]));
    else listeners.add(listener);
  }

  remove(kind: WatchKind, path: string, listener: WatchListener): void {
    const listeners = this.#listeners[kind].get(path);
    if (listeners?.delete(listener) === true && listeners.size === 0)
      this.#listeners[kind].delete(path);
  }

  /**
   * A question that leaves a watch is about to be asked. Returns what to call
   * when it has ended.
   */
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

  /** Whether the path has no watch, and no pending request for one. */
  isUnused(path: string): boolean {
    return (
      !this.#requestCounts.has(path) &&
      !WATCH_KINDS.some((kind) => this.isWatched(path, kind))
    );
  }

  /** Tells those who watch. Paths are the application's. */
  dispatch(event: WatchEvent): void {
    const reported = new Set<WatchListener>();
    for (const kind of CONSUMED_WATCH_KINDS[event.type]) {
      for (const listener of this.#listeners[kind].get(event.path) ?? [])
        reported.add(listener);
      this.#listeners[kind].delete(event.path);
    }
    for (const listener of this.#listeners.persistent.get(event.path) ?? [])
      reported.add(listener);
    // A recursive watch hears of nodes, not of their being in a list.
    if (event.type !== 'children-changed') {
      for (const path of getSelfAndAncestors(event.path)) {
        for (const listener of this.#listeners.recursive.get(path) ?? [])
          reported.add(listener);
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

  /** All watched paths in portions that fit a request. */
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
  for (
    let at = path.lastIndexOf('/');
    at > 0;
    at = path.lastIndexOf('/', at - 1)
  )
    paths.push(path.slice(0, at));
  if (path !== '/') paths.push('/');
  return paths;
}

/**
 * Reads a notification; undefined for one of a kind that says nothing about a
 * node.
 */
export function readWatchEvent(
  reader: JuteReader,
  chroot: Chroot,
): WatchEvent | undefined {
  const type = EVENT_TYPES[reader.int()];
  reader.int();
  const path = chroot.toClientPath(reader.string());
  return type === undefined ? undefined : { type, path };
}
