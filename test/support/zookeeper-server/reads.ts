/** The requests that a server answers from its own state. */
import type { JuteReader } from '../../../src/bindings/zookeeper/client/jute.ts';
import { OP } from '../../../src/bindings/zookeeper/client/requests.ts';
import type { Tree } from './tree.ts';
import type { WatchTable, Watcher } from './watch-table.ts';
import { ERROR, replyFrame, writeStat } from './wire.ts';

/** The state of the server that a read uses, and the connection that sets watches. */
interface Hall {
  readonly tree: Tree;
  readonly watches: WatchTable;
  readonly watcher: Watcher;
}

interface Read {
  readonly type: number;
  readonly xid: number;
  readonly reader: JuteReader;
}

/** Parses a read. `reply` creates the reply from the state at the time of the call. */
export function serveRead(
  { type, xid, reader }: Read,
  { tree, watches, watcher }: Hall,
): { readonly path: string; readonly reply: () => Buffer } {
  const done = (): Buffer => replyFrame({ xid, zxid: tree.zxid });
  if (type === OP.ping) return { path: '', reply: done };
  if (type === OP.setWatches || type === OP.setWatches2) {
    const zxid = reader.long();
    const paths = (): string[] => reader.list((item) => item.string());
    const [data, exists, children] = [paths(), paths(), paths()];
    const [persistent, recursive] = type === OP.setWatches2 ? [paths(), paths()] : [[], []];
    const reply = (): Buffer => {
      watches.rearm({ data, exists, children, persistent, recursive }, { zxid, tree, watcher });
      return done();
    };
    return { path: '', reply };
  }
  const path = reader.string();
  if (type === OP.addWatch) {
    const kind = reader.int() === 0 ? 'persistent' : 'recursive';
    const reply = (): Buffer => {
      watches.add(kind, path, watcher);
      return done();
    };
    return { path, reply };
  }
  if (type === OP.removeWatches) {
    const error = (): number => (watches.removeAll(path, watcher) ? 0 : ERROR.noWatcher);
    return { path, reply: () => replyFrame({ xid, zxid: tree.zxid, error: error() }) };
  }
  const hasWatch = type !== OP.getAcl && reader.bool();
  return { path, reply: () => readNode({ type, xid, path, hasWatch }, { tree, watches, watcher }) };
}

function readNode(
  { type, xid, path, hasWatch }: { type: number; xid: number; path: string; hasWatch: boolean },
  { tree, watches, watcher }: Hall,
): Buffer {
  const node = tree.nodes.get(path);
  if (hasWatch && (node !== undefined || type === OP.exists)) {
    watches.add(type === OP.getChildren2 ? 'children' : 'data', path, watcher);
  }
  if (node === undefined) return replyFrame({ xid, zxid: tree.zxid, error: ERROR.noNode });
  return replyFrame({ xid, zxid: tree.zxid }, (writer) => {
    if (type === OP.getData) writer.buffer(node.data);
    if (type === OP.getChildren2) writer.list([...node.children], (to, name) => to.string(name));
    if (type === OP.getAcl)
      writer.list(['world'], (to, scheme) => to.int(31).string(scheme).string('anyone'));
    writeStat(writer, node);
  });
}
