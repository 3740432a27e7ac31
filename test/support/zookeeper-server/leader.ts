/**
 * The leader: it opens and ends sessions, decides the effect of each request, and gives each its
 * place in the log. It does so in the order in which requests arrive.
 */
import { randomBytes } from 'node:crypto';
import { OP } from '../../../src/bindings/zookeeper/client/requests.ts';
import { Line } from './server-link.ts';
import { Tree, parentOf, type Change } from './tree.ts';
import { ERROR, type AskedUpdate } from './wire.ts';

/** A request that a server has forwarded. Only `session` and `cxid` identify the client. */
export interface Proposal {
  readonly session: bigint;
  readonly cxid: number;
  readonly type: number;
  readonly updates: readonly AskedUpdate[];
}

/** One entry of the log. An entry with an `error` takes a place in the log but changes nothing. */
export interface Transaction {
  readonly zxid: bigint;
  readonly proposal: Proposal;
  readonly changes: readonly Change[];
  readonly error: number;
  /** The index of the part that failed. */
  readonly failedAt: number;
}

/** A server that applies the log. */
export interface Follower {
  commit(transaction: Transaction): void;
}

interface LeaderSession {
  readonly password: Uint8Array;
  readonly timeoutMs: number;
  /**
   * The server where the session is open. Requests from other servers are refused, because the
   * session has moved.
   */
  owner: Follower;
}

const FIRST_ZXID = 2n ** 32n;
const FIRST_SESSION = 0x1000n;

export class Leader {
  /** The tree with all decided changes, also those that no majority has accepted yet. */
  readonly tree = new Tree();
  /** The entries that a majority has accepted. */
  readonly log: Transaction[] = [];
  /** How long a majority takes to agree. */
  readonly agreement = new Line();
  readonly sessions = new Map<bigint, LeaderSession>();
  readonly #followers: Follower[] = [];
  #zxid = FIRST_ZXID;
  #nextSession = FIRST_SESSION;

  /** Sends a follower all entries that are committed from now on. */
  add(follower: Follower): void {
    this.#followers.push(follower);
  }

  open(timeoutMs: number, owner: Follower): bigint {
    const session = this.#nextSession++;
    // A session of an earlier ensemble may have the same number, and must not be taken for this
    // one.
    this.sessions.set(session, { password: randomBytes(16), timeoutMs, owner });
    this.#commit({ session, cxid: 0, type: 0, updates: [] }, []);
    return session;
  }

  /**
   * Moves a session to another server. Returns false if the session has ended or the password is
   * wrong.
   */
  take(session: bigint, password: Uint8Array, owner: Follower): boolean {
    const known = this.sessions.get(session);
    if (known === undefined || !Buffer.from(known.password).equals(password)) return false;
    known.owner = owner;
    return true;
  }

  /** Ends a session and removes its ephemeral nodes. */
  expire(session: bigint): void {
    this.#close({ session, cxid: 0, type: OP.closeSession, updates: [] });
  }

  propose(proposal: Proposal, from: Follower): void {
    const session = this.sessions.get(proposal.session);
    if (session === undefined) return this.#refuse(proposal, ERROR.sessionExpired);
    if (session.owner !== from) return this.#refuse(proposal, ERROR.sessionMoved);
    if (proposal.type === OP.closeSession) return this.#close(proposal);
    const draft = new Draft(this.tree);
    const changes: Change[] = [];
    for (const [at, update] of proposal.updates.entries()) {
      const change = draft.prepare(update, proposal.session);
      if (typeof change === 'number') return this.#refuse(proposal, change, at);
      changes.push(change);
    }
    this.#commit(proposal, changes);
  }

  #close(proposal: Proposal): void {
    this.sessions.delete(proposal.session);
    const gone = [...this.tree.nodes].filter(([, { owner }]) => owner === proposal.session);
    this.#commit(
      proposal,
      gone.map(([path]) => ({ kind: 'delete', path })),
    );
  }

  #refuse(proposal: Proposal, error: number, failedAt = 0): void {
    this.#append({ proposal, changes: [], error, failedAt });
  }

  #commit(proposal: Proposal, changes: readonly Change[]): void {
    this.#append({ proposal, changes, error: 0, failedAt: 0 });
  }

  #append(entry: Omit<Transaction, 'zxid'>): void {
    const transaction = { zxid: ++this.#zxid, ...entry };
    this.tree.apply(transaction.zxid, transaction.changes);
    this.agreement.send(() => {
      this.log.push(transaction);
      for (const follower of this.#followers) follower.commit(transaction);
    });
  }
}

/** The leader's state with the earlier parts of one transaction. */
class Draft {
  readonly #tree: Tree;
  readonly #made = new Map<string, number>();
  readonly #gone = new Set<string>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** What the update does, or the number of its failure. */
  prepare(update: AskedUpdate, session: bigint): Change | number {
    const { type, data, version } = update;
    if (type === OP.delete || type === OP.setData || type === OP.check) {
      const { path } = update;
      if (!this.#has(path)) return ERROR.noNode;
      if (version !== -1 && version !== (this.#tree.nodes.get(path)?.version ?? 0))
        return ERROR.badVersion;
      if (type === OP.setData) return { kind: 'set', path, data };
      if (type !== OP.delete) return { kind: 'check', path };
      if (this.#hasChildren(path)) return ERROR.notEmpty;
      this.#gone.add(path);
      return { kind: 'delete', path };
    }
    const parent = parentOf(update.path);
    if (!this.#has(parent)) return ERROR.noNode;
    const number = (this.#tree.nodes.get(parent)?.creates ?? 0) + (this.#made.get(parent) ?? 0);
    const path = update.isSequential ? update.path + String(number).padStart(10, '0') : update.path;
    if (this.#has(path)) return ERROR.nodeExists;
    this.#made.set(parent, (this.#made.get(parent) ?? 0) + 1);
    this.#made.set(path, this.#made.get(path) ?? 0);
    this.#gone.delete(path);
    return { kind: 'create', path, data, owner: update.isEphemeral ? session : 0n };
  }

  #has(path: string): boolean {
    return !this.#gone.has(path) && (this.#made.has(path) || this.#tree.nodes.has(path));
  }

  #hasChildren(path: string): boolean {
    const below = path === '/' ? '/' : `${path}/`;
    const retained = [...(this.#tree.nodes.get(path)?.children ?? [])].map((name) => below + name);
    return [...retained, ...this.#made.keys()].some(
      (item) => parentOf(item) === path && this.#has(item),
    );
  }
}
