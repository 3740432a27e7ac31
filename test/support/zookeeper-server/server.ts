/**
 * One server: a copy of the tree, connections of clients, and the requests that wait for their
 * commit.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { JuteWriter, type JuteReader } from '../../../src/bindings/zookeeper/client/jute.ts';
import { OP } from '../../../src/bindings/zookeeper/client/requests.ts';
import { FakeConnection, type Waiting } from './connection.ts';
import type { Follower, Leader, Proposal, Transaction } from './leader.ts';
import { Line } from './server-link.ts';
import { createNode, Tree } from './tree.ts';
import { WatchTable } from './watch-table.ts';
import { serveRead } from './reads.ts';
import {
  ERROR,
  isUpdate,
  readUpdates,
  replyFrame,
  writeFailedMulti,
  writeMulti,
  writePart,
} from './wire.ts';

export interface FakeServerOptions {
  readonly port?: number;
  /** The delay of a request to the leader, and of a commit from the leader. */
  readonly toLeaderMs?: number;
  readonly fromLeaderMs?: number;
}

/** A request, as the server received it. */
export interface Seen {
  readonly type: number;
  readonly path: string;
  readonly session: bigint;
  readonly xid: number;
}

/** A fault that a test injects into a request. */
export type Fault =
  /** The request is answered with this error, and not executed. */
  | { readonly error: number }
  /** The connection is cut before the request is executed, or instead of its reply. */
  | { readonly cut: 'before' | 'after' }
  /** The request is executed at once, but its reply waits for this promise. */
  | { readonly until: Promise<unknown> };

/** How a client introduced itself. */
export interface Greeting {
  readonly session: bigint;
  readonly lastZxid: bigint;
  readonly isReadOnly: boolean;
  readonly isAccepted: boolean;
}

export class FakeServer implements Follower {
  readonly tree = new Tree();
  readonly requests: Seen[] = [];
  readonly greetings: Greeting[] = [];
  readonly identities: string[] = [];
  /** Commits that completed the wrong request, and requests that were committed twice. */
  readonly mismatches: string[] = [];
  readonly connections = new Set<FakeConnection>();
  /** Called for each request. Returns the fault to inject, if any. */
  onRequest: ((seen: Seen) => Fault | undefined) | undefined;
  /** Replaces the path in the reply to a create. */
  mistakes: ((path: string) => string) | undefined;
  /** Replaces the bytes of a reply. */
  garble: ((frame: Buffer) => Buffer) | undefined;
  connectionsMax = Infinity;
  /** How many connections were refused because there were too many. */
  refusals = 0;
  /**
   * Whether the server has lost contact with the ensemble. Then it accepts only clients that ask
   * for read-only access.
   */
  isReadOnly = false;
  /**
   * Whether the server claims to be read-only also to clients that did not ask for it. No real
   * server does.
   */
  claimsReadOnly = false;
  refusesAuth = false;
  readonly toLeader = new Line();
  readonly fromLeader = new Line();
  readonly #leader: Leader;
  readonly #watches = new WatchTable();
  readonly #net: Server;
  /**
   * Requests of this server that wait for their commit, in the order in which they were forwarded.
   */
  readonly #agreeing: { readonly waiting: Waiting; readonly proposal: Proposal }[] = [];

  private constructor(leader: Leader, { toLeaderMs = 0, fromLeaderMs = 0 }: FakeServerOptions) {
    this.#leader = leader;
    this.toLeader.delayMs = toLeaderMs;
    this.fromLeader.delayMs = fromLeaderMs;
    for (const { zxid, changes } of leader.log) this.tree.apply(zxid, changes);
    leader.add(this);
    this.#net = createServer({ noDelay: true }, (socket) => this.#admit(socket));
  }

  static async start(leader: Leader, options: FakeServerOptions = {}): Promise<FakeServer> {
    const server = new FakeServer(leader, options);
    await new Promise<void>((resolve) =>
      server.#net.listen(options.port ?? 0, '127.0.0.1', resolve),
    );
    return server;
  }

  get address(): string {
    return `127.0.0.1:${(this.#net.address() as AddressInfo).port}`;
  }

  /** Returns the connection of a session. */
  connectionOf(session: bigint): FakeConnection | undefined {
    return [...this.connections].find((item) => item.session === session);
  }

  /** Cuts all connections. Clients can connect again. */
  cut(): void {
    for (const connection of this.connections) connection.cut();
  }

  async stop(): Promise<void> {
    this.toLeader.stop();
    this.fromLeader.stop();
    this.cut();
    if (this.#net.listening) await new Promise((resolve) => this.#net.close(resolve));
  }

  commit(transaction: Transaction): void {
    this.fromLeader.send(() => this.#apply(transaction));
  }

  #admit(socket: Socket): void {
    if (this.connections.size >= this.connectionsMax) {
      this.refusals += 1;
      return void socket.destroy();
    }
    let hasHello = false;
    const connection = new FakeConnection(socket, (frame) => this.garble?.(frame) ?? frame, {
      onFrame: (reader) => {
        if (hasHello) return this.#take(connection, reader);
        hasHello = true;
        this.#greet(connection, reader);
      },
      onEnd: () => {
        this.connections.delete(connection);
        this.#watches.forget(connection);
      },
    });
    this.connections.add(connection);
  }

  #greet(connection: FakeConnection, reader: JuteReader): void {
    reader.int();
    const lastZxid = reader.long();
    const timeoutMs = reader.int();
    const session = reader.long();
    const password = reader.buffer() ?? new Uint8Array(16);
    const isReadOnly = reader.remaining > 0 && reader.bool();
    const isAccepted = lastZxid <= this.tree.zxid && (!this.isReadOnly || isReadOnly);
    this.greetings.push({ session, lastZxid, isReadOnly, isAccepted });
    // Refuse a client that has seen a later state than this server has, because its views must
    // never go back.
    if (!isAccepted) return connection.cut();
    this.toLeader.send(() => {
      const isNew = session === 0n;
      const id = isNew ? this.#leader.open(timeoutMs, this) : session;
      const isKnown = isNew || this.#leader.take(session, password, this);
      this.fromLeader.send(() => this.#welcome(connection, isKnown ? id : 0n));
    });
  }

  #welcome(connection: FakeConnection, session: bigint): void {
    const { password = new Uint8Array(16), timeoutMs = 0 } =
      this.#leader.sessions.get(session) ?? {};
    connection.session = session;
    const writer = new JuteWriter().int(0).int(timeoutMs).long(session).buffer(password);
    connection.write(writer.bool(this.isReadOnly || this.claimsReadOnly).frame());
    if (timeoutMs === 0) connection.end();
  }

  #take(connection: FakeConnection, reader: JuteReader): void {
    const xid = reader.int();
    const type = reader.int();
    const { session } = connection;
    if (type === OP.auth) {
      this.requests.push({ type, path: '', session, xid });
      return this.#identify(connection, reader, xid);
    }
    const updates = isUpdate(type) ? readUpdates(type, reader) : [];
    const serve =
      isUpdate(type) || type === OP.sync
        ? undefined
        : serveRead({ type, xid, reader }, this.#hall(connection));
    const path = updates[0]?.path ?? serve?.path ?? (type === OP.sync ? reader.string() : '');
    const seen: Seen = { type, path, session, xid };
    this.requests.push(seen);
    const waiting: Waiting = {
      connection,
      ...seen,
      updates,
      serve: serve?.reply,
      reply: undefined,
      isHeld: false,
      cutsAfter: false,
    };
    const fault = this.onRequest?.(seen);
    if (fault !== undefined && 'cut' in fault && fault.cut === 'before') return connection.cut();
    connection.push(waiting);
    if (fault !== undefined) this.#spoil(waiting, fault);
    if (waiting.reply === undefined && serve === undefined) this.#sendOn(waiting);
    connection.advance();
  }

  #hall(connection: FakeConnection): Parameters<typeof serveRead>[1] {
    return { tree: this.tree, watches: this.#watches, watcher: connection };
  }

  #spoil(waiting: Waiting, fault: Fault): void {
    if ('error' in fault) {
      waiting.reply = replyFrame({ xid: waiting.xid, zxid: this.tree.zxid, error: fault.error });
    } else if ('cut' in fault) waiting.cutsAfter = true;
    else {
      waiting.isHeld = true;
      void fault.until.then(() => {
        waiting.isHeld = false;
        waiting.connection.advance();
      });
    }
  }

  #identify(connection: FakeConnection, reader: JuteReader, xid: number): void {
    reader.int();
    const scheme = reader.string();
    this.identities.push(`${scheme} ${Buffer.from(reader.buffer() ?? []).toString()}`);
    const error = this.refusesAuth ? ERROR.authFailed : 0;
    connection.write(replyFrame({ xid, zxid: this.tree.zxid, error }));
    if (this.refusesAuth) connection.end();
  }

  /** Forwards a request to the leader. */
  #sendOn(waiting: Waiting): void {
    const { session, xid: cxid, type, updates } = waiting;
    const proposal: Proposal = { session, cxid, type, updates };
    const entry = { waiting, proposal };
    this.#agreeing.push(entry);
    this.toLeader.send(() => {
      if (type !== OP.sync) return this.#leader.propose(proposal, this);
      this.fromLeader.send(() => {
        if (this.#agreeing[0] !== entry)
          this.mismatches.push(`sync ${cxid} is committed, and waits no more`);
        else
          this.#settle(entry.waiting, {
            zxid: this.tree.zxid,
            changes: [],
            error: 0,
            failedAt: 0,
            proposal,
          });
      });
    });
  }

  #apply(transaction: Transaction): void {
    const { zxid, changes, proposal } = transaction;
    this.tree.apply(zxid, changes);
    for (const change of changes) this.#watches.fire(change);
    const head = this.#agreeing[0];
    // Compare only the session and the number of the request, as the real server does.
    if (
      head !== undefined &&
      head.proposal.session === proposal.session &&
      head.proposal.cxid === proposal.cxid
    ) {
      if (head.proposal !== proposal)
        this.mismatches.push(`${head.waiting.type} ${proposal.cxid} of ${proposal.session}`);
      this.#settle(head.waiting, transaction);
    }
    if (proposal.type === OP.closeSession) this.connectionOf(proposal.session)?.end();
  }

  #settle(waiting: Waiting, { zxid, changes, error, failedAt }: Transaction): void {
    this.#agreeing.shift();
    const { xid, type, path, updates, connection } = waiting;
    const parts = updates.map((update, n) => {
      const made = changes[n]?.path ?? update.path;
      // A later part of the `multi` may have deleted the node.
      const stat = this.tree.nodes.get(made) ?? createNode(null, zxid, 0n);
      return { type: update.type, path: this.mistakes?.(made) ?? made, stat };
    });
    const isMulti = type === OP.multi;
    waiting.reply = replyFrame({ xid, zxid, error: isMulti ? 0 : error }, (writer) => {
      if (type === OP.sync) writer.string(path);
      else if (!isMulti) parts.forEach((part) => writePart(writer, part));
      else if (error === 0) writeMulti(writer, parts);
      else writeFailedMulti(writer, updates.length, { at: failedAt, error });
    });
    connection.advance();
  }
}
