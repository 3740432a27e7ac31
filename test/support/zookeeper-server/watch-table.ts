/**
 * The watchers of one server: one-time watches of data and of children, persistent and recursive
 * ones.
 */
import { JuteWriter } from '../../../src/bindings/zookeeper/client/jute.ts';
import { parentOf, type Change, type Tree } from './tree.ts';

/** A connection that receives notifications. */
export interface Watcher {
  write(frame: Buffer): void;
}

const EVENT = { created: 1, deleted: 2, 'data-changed': 3, 'children-changed': 4 } as const;
type EventType = keyof typeof EVENT;

const NOTIFICATION_XID = -1;
const CONNECTED_STATE = 3;

type Kind = 'data' | 'children' | 'persistent' | 'recursive';

/** The watches that a client sets again after a reconnection, in the order of the request. */
export interface Rearmed {
  readonly data: readonly string[];
  readonly exists: readonly string[];
  readonly children: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

export class WatchTable {
  readonly #watchers: Readonly<Record<Kind, Map<string, Set<Watcher>>>> = {
    data: new Map(),
    children: new Map(),
    persistent: new Map(),
    recursive: new Map(),
  };

  add(kind: Kind, path: string, watcher: Watcher): void {
    const watchers = this.#watchers[kind].get(path) ?? new Set();
    this.#watchers[kind].set(path, watchers.add(watcher));
  }

  /** Removes all watches of the watcher at the path. Returns false if there are none. */
  removeAll(path: string, watcher: Watcher): boolean {
    const removed = Object.values(this.#watchers).map(
      (paths) => paths.get(path)?.delete(watcher) === true,
    );
    return removed.includes(true);
  }

  /** Removes all watches of a closed connection. */
  forget(watcher: Watcher): void {
    for (const paths of Object.values(this.#watchers))
      for (const watchers of paths.values()) watchers.delete(watcher);
  }

  /** Sends the notifications for an applied change. */
  fire({ kind, path }: Change): void {
    if (kind === 'set') this.#tell('data-changed', path, ['data']);
    else if (kind === 'create') this.#tell('created', path, ['data']);
    else if (kind === 'delete') this.#tell('deleted', path, ['data', 'children']);
    if (kind === 'create' || kind === 'delete')
      this.#tell('children-changed', parentOf(path), ['children']);
  }

  /** Sets watches again, and notifies at once of changes since `zxid`. */
  rearm(
    requested: Rearmed,
    { zxid, tree, watcher }: { zxid: bigint; tree: Tree; watcher: Watcher },
  ): void {
    const again = (kind: Kind, path: string, missed: EventType | undefined): void => {
      if (missed === undefined) this.add(kind, path, watcher);
      else watcher.write(notification(missed, path));
    };
    for (const path of requested.data) {
      const node = tree.nodes.get(path);
      again(
        'data',
        path,
        node === undefined ? 'deleted' : node.mzxid > zxid ? 'data-changed' : undefined,
      );
    }
    for (const path of requested.exists)
      again('data', path, tree.nodes.has(path) ? 'created' : undefined);
    for (const path of requested.children) {
      const node = tree.nodes.get(path);
      again(
        'children',
        path,
        node === undefined ? 'deleted' : node.pzxid > zxid ? 'children-changed' : undefined,
      );
    }
    for (const path of requested.persistent) this.add('persistent', path, watcher);
    for (const path of requested.recursive) this.add('recursive', path, watcher);
  }

  #tell(type: EventType, path: string, oneTime: readonly Kind[]): void {
    const reported = new Set(this.#watchers.persistent.get(path));
    for (const kind of oneTime) {
      for (const watcher of this.#watchers[kind].get(path) ?? []) reported.add(watcher);
      this.#watchers[kind].delete(path);
    }
    if (type !== 'children-changed') {
      for (let at = path; ; at = parentOf(at)) {
        for (const watcher of this.#watchers.recursive.get(at) ?? []) reported.add(watcher);
        if (at === '/') break;
      }
    }
    for (const watcher of reported) watcher.write(notification(type, path));
  }
}

function notification(type: EventType, path: string): Buffer {
  const writer = new JuteWriter().int(NOTIFICATION_XID).long(-1n).int(0);
  return writer.int(EVENT[type]).int(CONNECTED_STATE).string(path).frame();
}
