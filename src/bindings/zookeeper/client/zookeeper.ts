/** The client: the operations of ZooKeeper in a session. */
import { replaceErrorWith, ZooKeeperError } from './errors.ts';
import type { JuteReader, JuteWriter } from './jute.ts';
import {
  readMulti,
  writeMulti,
  type MultiPart,
  type MultiResult,
  type ResolvedPart,
} from './multi.ts';
import { resolveOptions, type Credentials, type ZooKeeperOptions } from './options.ts';
import { checkPath } from './path.ts';
import { OPEN_ACL, readStat, type Acl, type Stat } from './stat-and-acl.ts';
import * as requests from './requests.ts';
import { OP, type CreateMode, type NodeAcl, type NodeChildren, type NodeData } from './requests.ts';
import { parseConnectString } from './server-pool.ts';
import {
  getEndErrorCode,
  ZooKeeperSession,
  type SessionListener,
  type SessionState,
} from './zookeeper-session.ts';
import type { WatchListener } from './watches.ts';

export interface CreateOptions {
  /** How long the node exists. Default: `persistent`. */
  readonly mode?: CreateMode;
  /** The permissions. Default: everyone may do everything. */
  readonly acl?: readonly Acl[];
  /**
   * Called with the path that a sequential node should get, before the ensemble has agreed. It
   * needs a server that gives preliminary replies (`research/zookeeper-czk`). Other servers ignore
   * it.
   */
  readonly onPreliminary?: (path: string) => void;
}

/** A condition: the version that the node must have; `0` is version 0. Default: any version. */
export interface VersionOption {
  readonly version?: number;
}

/** A listener that is called once, at the next change. */
export interface WatchOption {
  readonly watch?: WatchListener;
}

/** An option that reports how old an answer is. */
export interface ZxidOption {
  /**
   * Called before the answer is delivered, with the last transaction that the server had applied
   * when it answered. Called for errors too. By then, `lastZxid` may include later answers.
   */
  readonly onZxid?: (zxid: bigint) => void;
}

type NodeContent = Uint8Array | string | null;

/** A request about one node, without its path. */
interface RequestParts<T> extends Pick<requests.Request<T>, 'read' | 'onReply'> {
  readonly isWrite?: boolean;
  readonly write?: (writer: JuteWriter) => unknown;
}

const ANY_VERSION = -1;
const WATCH_MODE = { persistent: 0, recursive: 1 } as const;
const ANY_WATCHER = 3;

/**
 * A session with a ZooKeeper ensemble. It connects by itself, sends heartbeats, and moves to
 * another server if it loses a connection. Requests are answered in the order in which you make
 * them. Those of one tick are sent together.
 *
 * If a request was sent and lost, it fails with `CONNECTION_LOSS`. Its `mayHaveTakenEffect` reports
 * whether it could have been executed. Requests made between two connections wait, for as long as
 * the session could last.
 *
 * @example
 * const zk = new ZooKeeper('127.0.0.1:2181,127.0.0.2:2181/my-application');
 * await zk.create('/jobs', null);
 * const path = await zk.create('/jobs/job-', 'first', { mode: 'persistent-sequential' });
 * const { data, stat } = await zk.get(path);
 * await zk.delete(path, { version: stat.version });
 * await zk.close();
 */
export class ZooKeeper implements AsyncDisposable {
  readonly #session: ZooKeeperSession;

  /**
   * Creates a client of the servers in `connectString`: `host:port,host:port/chroot`.
   *
   * @throws ZooKeeperError `BAD_ARGUMENTS` if an address, a path or an option is invalid
   */
  constructor(connectString: string, options: ZooKeeperOptions = {}) {
    this.#session = new ZooKeeperSession(
      parseConnectString(connectString),
      resolveOptions(options),
    );
  }

  get state(): SessionState {
    return this.#session.state;
  }

  /** The ID of the session; 0 before it has begun. */
  get sessionId(): bigint {
    return this.#session.id;
  }

  /**
   * The credentials with which another client can resume this session; `undefined` before it has
   * begun.
   */
  get credentials(): Credentials | undefined {
    return this.#session.credentials;
  }

  /** The session timeout that was negotiated with the server. */
  get sessionTimeoutMs(): number {
    return this.#session.timeoutMs;
  }

  /** The connected server, `host:port`; `undefined` between connections. */
  get server(): string | undefined {
    return this.#session.server;
  }

  /**
   * Why there is no connection; `undefined` while there is one, and before the first attempt has
   * failed.
   */
  get blockedBy(): ZooKeeperError | undefined {
    return this.#session.blockedBy;
  }

  /** The last transaction that this session has seen. */
  get lastZxid(): bigint {
    return this.#session.lastZxid;
  }

  /** Payload bytes sent and received so far, heartbeats included. */
  get bytes(): { readonly sent: number; readonly received: number } {
    return { ...this.#session.bytes };
  }

  /** Calls `listener` for each event of the session. Returns a function that removes it. */
  onSession(listener: SessionListener): () => void {
    return this.#session.addListener(listener);
  }

  /** Resolves when the session is connected. Rejects with a `ZooKeeperError` if it has ended. */
  whenConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): boolean => {
        const { state } = this.#session;
        const code = getEndErrorCode(state);
        if (code !== undefined) reject(new ZooKeeperError(code));
        else if (state === 'connected') resolve();
        return state !== 'connecting';
      };
      if (settle()) return;
      const stop = this.#session.addListener(() => {
        if (settle()) stop();
      });
    });
  }

  /** Creates a node and returns its path, which ends with a number in the sequential modes. */
  async create(path: string, data: NodeContent, options: CreateOptions = {}): Promise<string> {
    const { mode = 'persistent', acl = OPEN_ACL, onPreliminary } = options;
    checkPath(path, mode.endsWith('sequential'));
    const type = requests.getCreateOpCode(mode, false);
    const fields = {
      path: this.#session.chroot.toServerPath(path),
      data: toBytes(data),
      acl,
      mode,
    };
    const { chroot } = this.#session;
    const created = await this.#session.submit({
      type,
      path,
      isWrite: true,
      write: (writer) => requests.writeCreate(writer, fields),
      read: (reader) => requests.readCreated(reader, type, fields),
      ...(onPreliminary && {
        readPreliminary: (reader) => onPreliminary(chroot.toClientPath(reader.string())),
      }),
    });
    return chroot.toClientPath(created.path);
  }

  /** Returns the metadata of a node, or `null` if it does not exist. */
  exists(path: string, options: WatchOption & ZxidOption = {}): Promise<Stat | null> {
    return this.#read(OP.exists, path, { ...options, read: readStat }).catch(
      replaceErrorWith('NO_NODE', null),
    );
  }

  /** Returns the data of a node, with its metadata. */
  get(path: string, options: WatchOption & ZxidOption = {}): Promise<NodeData> {
    return this.#read(OP.getData, path, {
      ...options,
      read: requests.readData,
    });
  }

  /** Returns the names of a node's children, with its metadata. */
  children(path: string, options: WatchOption & ZxidOption = {}): Promise<NodeChildren> {
    return this.#read(OP.getChildren2, path, {
      ...options,
      read: requests.readChildren,
    });
  }

  /** Changes the data of a node and returns its new metadata. */
  set(
    path: string,
    data: NodeContent,
    { version = ANY_VERSION }: VersionOption = {},
  ): Promise<Stat> {
    const write = (writer: JuteWriter): unknown => writer.buffer(toBytes(data)).int(version);
    return this.#request(OP.setData, path, {
      isWrite: true,
      write,
      read: readStat,
    });
  }

  delete(path: string, { version = ANY_VERSION }: VersionOption = {}): Promise<void> {
    return this.#request(OP.delete, path, {
      isWrite: true,
      write: (writer) => writer.int(version),
      read: () => {},
    });
  }

  /**
   * Waits until the server has caught up with the leader. Later reads see all that was committed
   * before.
   */
  sync(path = '/'): Promise<void> {
    return this.#request(OP.sync, path, {
      read: (reader) => void reader.string(),
    });
  }

  /**
   * Executes all parts or none.
   *
   * @throws ZooKeeperError with `part`, the index of the part that failed
   */
  async multi(parts: readonly MultiPart[]): Promise<readonly MultiResult[]> {
    const resolved = parts.map((part): ResolvedPart => this.#resolve(part));
    const results = await this.#session.submit({
      type: OP.multi,
      path: undefined,
      isWrite: true,
      write: (writer) => writeMulti(writer, resolved),
      read: (reader) => readMulti(reader, resolved),
    });
    const { chroot } = this.#session;
    return results.map((item) =>
      item.type === 'create' ? { ...item, path: chroot.toClientPath(item.path) } : item,
    );
  }

  getAcl(path: string): Promise<NodeAcl> {
    return this.#request(OP.getAcl, path, { read: requests.readAcls });
  }

  /**
   * Calls `listener` for every change of a node until you call the returned function. If
   * `isRecursive` is true, it covers all nodes below too. The client restores the watch after a
   * reconnection.
   */
  async watch(
    path: string,
    listener: WatchListener,
    { isRecursive = false } = {},
  ): Promise<() => Promise<void>> {
    const { watches } = this.#session;
    const [kind, other] = isRecursive
      ? (['recursive', 'persistent'] as const)
      : (['persistent', 'recursive'] as const);
    checkPath(path);
    if (watches.isWatched(path, other)) {
      throw new ZooKeeperError('BAD_ARGUMENTS', {
        path,
        hint: `it has a ${other} watch: ZooKeeper keeps one of the two`,
      });
    }
    watches.add(kind, path, listener);
    try {
      await this.#request(OP.addWatch, path, {
        write: (writer) => writer.int(WATCH_MODE[kind]),
        read: () => {},
      });
    } catch (error) {
      watches.remove(kind, path, listener);
      throw error;
    }
    return async () => {
      watches.remove(kind, path, listener);
      // Remove the watch at the server only if no other listener watches the path, because the
      // server removes all watches of a path.
      if (watches.isUnused(path)) await this.#removeWatch(path);
    };
  }

  /**
   * Identifies the client, for ACLs: `addAuth('digest', 'user:password')`. Every new connection
   * repeats it.
   */
  addAuth(scheme: string, secret: string): void {
    this.#session.addIdentity({ scheme, secret: Buffer.from(secret) });
  }

  /**
   * Prefers the server `host:port` from now on, and moves there if connected to another;
   * `undefined` for any.
   */
  preferServer(server: string | undefined): void {
    this.#session.preferServer(server);
  }

  /** Cuts the connection as a failing network would, for tests. */
  dropConnection(): void {
    this.#session.dropConnection();
  }

  /** Ends the session and its ephemeral nodes. Requests in flight are answered first. */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Executes a read that may set a watch. The watch is registered when the reply arrives, before
   * later messages are handled.
   */
  async #read<T>(
    type: number,
    path: string,
    {
      watch,
      onZxid,
      read,
    }: WatchOption & ZxidOption & { readonly read: (reader: JuteReader) => T },
  ): Promise<T> {
    const write = (writer: JuteWriter): unknown => writer.bool(watch !== undefined);
    if (watch === undefined) {
      const onReply = onZxid && ((_: number, zxid: bigint): void => onZxid(zxid));
      return this.#request(type, path, {
        write,
        read,
        ...(onReply && { onReply }),
      });
    }
    const { watches } = this.#session;
    const answered = (error: number, zxid: bigint): void => {
      onZxid?.(zxid);
      if (error === 0) watches.add(type === OP.getChildren2 ? 'children' : 'data', path, watch);
      else if (error === requests.NO_NODE && type === OP.exists) watches.add('exists', path, watch);
    };
    const ended = watches.beginRequest(path);
    try {
      return await this.#request(type, path, {
        write,
        read,
        onReply: answered,
      });
    } finally {
      ended();
    }
  }

  async #removeWatch(path: string): Promise<void> {
    const write = (writer: JuteWriter): unknown => writer.int(ANY_WATCHER);
    const removing = this.#request(OP.removeWatches, path, {
      write,
      read: () => {},
    });
    await removing.catch(replaceErrorWith('NO_WATCHER', undefined));
  }

  /** Sends a request about one node: its path, then what `write` adds. */
  #request<T>(
    type: number,
    path: string,
    { isWrite = false, write, read, onReply }: RequestParts<T>,
  ): Promise<T> {
    const outer = this.#session.chroot.toServerPath(checkPath(path));
    return this.#session.submit({
      type,
      path,
      isWrite,
      write(writer) {
        writer.string(outer);
        write?.(writer);
      },
      read,
      ...(onReply && { onReply }),
    });
  }

  #resolve(part: MultiPart): ResolvedPart {
    const isSequential = part.type === 'create' && (part.mode ?? '').endsWith('sequential');
    checkPath(part.path, isSequential);
    return {
      ...part,
      serverPath: this.#session.chroot.toServerPath(part.path),
      bytes: 'data' in part ? toBytes(part.data ?? null) : null,
      resolvedAcl: part.type === 'create' ? (part.acl ?? OPEN_ACL) : OPEN_ACL,
    };
  }
}

const encoder = new TextEncoder();

function toBytes(data: NodeContent): Uint8Array | null {
  return typeof data === 'string' ? encoder.encode(data) : data;
}
