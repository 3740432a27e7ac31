/**
 * A session with an ensemble: outlives connections, is taken up again at another server, and ends when the ensemble says
 * so or when it is closed.
 */
import { settledWithin } from '../settled-within.ts';
import { Connection, frameOf, type Accepted, type Pending } from './connection.ts';
import { ZooKeeperError } from './errors.ts';
import type { JuteReader } from './jute.ts';
import type { Credentials, ResolvedOptions } from './options.ts';
import { Chroot } from './path.ts';
import { RequestNumbers } from './request-numbers.ts';
import { OP, type Request } from './requests.ts';
import { ServerRing, type ConnectString } from './server-list.ts';
import { readWatchEvent, Watches, writeRearm } from './watches.ts';

/** `connecting` before the first connection and between two; `expired`, `auth-failed` and `closed` are for good. */
export type SessionState = 'connecting' | 'connected' | 'expired' | 'auth-failed' | 'closed';

/** What happens to a session. */
export type SessionEvent =
  /** `isNew`: the session has just begun; otherwise it goes on over another connection, its ephemeral nodes alive. */
  | { readonly type: 'connected'; readonly server: string; readonly isNew: boolean; readonly timeoutMs: number }
  | { readonly type: 'disconnected'; readonly server: string; readonly reason: ZooKeeperError }
  /** The ensemble gave the session up, its ephemeral nodes are gone: a new client is needed. */
  | { readonly type: 'expired' }
  | { readonly type: 'auth-failed' }
  | { readonly type: 'closed' };

export type SessionListener = (event: SessionEvent) => void;

interface Identity {
  readonly scheme: string;
  readonly secret: Uint8Array;
}

/** After all servers have been tried in vain: a pause, longer each time. */
const PAUSE_MS = 50;
const PAUSE_MAX_MS = 2_000;
/** How long a farewell may take. */
const CLOSE_MS = 2_000;

export class Session {
  readonly watches: Watches;
  readonly chroot: Chroot;
  readonly bytes = { sent: 0, received: 0 };
  lastZxid = 0n;
  state: SessionState = 'connecting';
  /** Undefined before the session has begun. */
  credentials: Credentials | undefined;
  /** As negotiated, once it has been. */
  timeoutMs: number;
  /** Why there is no connection; undefined while there is one, and before the first has failed. */
  obstacle: ZooKeeperError | undefined;
  readonly #options: ResolvedOptions;
  readonly #ring: ServerRing;
  readonly #listeners = new Set<SessionListener>();
  readonly #identities: Identity[] = [];
  readonly #numbers: RequestNumbers;
  #connection: Connection | undefined;
  #queue: Pending[] = [];
  #rounds = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #waitTimer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor({ servers, chroot }: ConnectString, options: ResolvedOptions) {
    this.#options = options;
    this.credentials = options.credentials;
    this.#numbers = options.credentials === undefined ? new RequestNumbers() : RequestNumbers.anywhere();
    this.chroot = new Chroot(chroot);
    this.watches = new Watches(options.onUncaught);
    this.#ring = new ServerRing(servers, options.preferredServer);
    this.timeoutMs = options.sessionTimeoutMs;
    this.#connect();
  }

  /** The session's number; 0 before it has begun. */
  get id(): bigint {
    return this.credentials?.sessionId ?? 0n;
  }

  get server(): string | undefined {
    return this.state === 'connected' ? this.#connection?.server : undefined;
  }

  listen(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  submit<T>(request: Request<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const refusal = this.#refusal(request);
      if (refusal !== undefined) return reject(refusal);
      const frame = frameOf(request);
      if (frame.length > this.#options.maxRequestBytes) return reject(this.#tooLarge(request, frame.length));
      const pending: Pending<T> = { request, frame, resolve, reject, since: performance.now() };
      if (this.state === 'connected') this.#connection?.send(pending as Pending);
      else this.#wait(pending as Pending);
    });
  }

  /** Keeps the identity for this and every later connection. */
  addIdentity(identity: Identity): void {
    this.#identities.push(identity);
    if (this.state === 'connected') this.#connection?.sendSetup(authRequest(identity));
  }

  /** Prefers a server from now on, and goes there if connected to another. */
  prefer(server: string | undefined): void {
    this.#ring.prefer(server);
    if (server !== undefined && this.#connection !== undefined && this.#connection.server !== server) {
      this.#connection.destroy(`moving to ${server}`);
    }
  }

  /** Cuts the connection as a failing network would; the session goes on over another. */
  cut(): void {
    this.#connection?.destroy('cut');
  }

  async close(): Promise<void> {
    if (this.#isClosing || isOver(this.state)) return;
    this.#isClosing = true;
    if (this.state === 'connected') await this.#sayGoodbye();
    this.#finish('closed', new ZooKeeperError('CLIENT_CLOSED'));
  }

  #sayGoodbye(): Promise<void> {
    const request = { type: OP.closeSession, path: undefined, isUpdate: true, write() {}, read() {} };
    const answered = new Promise<void>((resolve, reject) => {
      this.#connection?.send({
        request,
        frame: frameOf(request),
        resolve,
        reject,
        since: performance.now(),
      } as Pending);
    });
    return settledWithin(CLOSE_MS, [answered]);
  }

  #refusal({ path }: Request<unknown>): ZooKeeperError | undefined {
    if (this.state === 'expired') return new ZooKeeperError('SESSION_EXPIRED', { path });
    if (this.state === 'auth-failed') return new ZooKeeperError('AUTH_FAILED', { path });
    if (this.state === 'closed' || this.#isClosing) return new ZooKeeperError('CLIENT_CLOSED', { path });
    const underWay = this.#queue.length + (this.#connection?.waiting ?? 0);
    return underWay < this.#options.requestsMax ? undefined : new ZooKeeperError('TOO_MANY_REQUESTS', { path });
  }

  #tooLarge({ path }: Request<unknown>, bytes: number): ZooKeeperError {
    const hint = `${bytes} bytes are over maxRequestBytes; servers refuse what exceeds their jute.maxbuffer (1 MB)`;
    return new ZooKeeperError('BAD_ARGUMENTS', { path, hint });
  }

  /** Between connections requests wait, unsent, for as long as the session could last. */
  #wait(pending: Pending): void {
    this.#queue.push(pending);
    this.#waitTimer ??= setTimeout(() => this.#giveUpWaiting(), this.timeoutMs);
  }

  #giveUpWaiting(): void {
    this.#waitTimer = undefined;
    const since = performance.now() - this.timeoutMs;
    const late = this.#queue.filter((pending) => pending.since <= since);
    this.#queue = this.#queue.filter((pending) => pending.since > since);
    for (const { request, reject } of late) {
      const hint = `no server could be reached for ${this.timeoutMs} ms; the request was not sent`;
      reject(new ZooKeeperError('CONNECTION_LOSS', { path: request.path, hint }));
    }
    const next = this.#queue[0];
    if (next !== undefined) {
      const leftMs = Math.max(1, next.since + this.timeoutMs - performance.now());
      this.#waitTimer = setTimeout(() => this.#giveUpWaiting(), leftMs);
    }
  }

  #connect(): void {
    this.#retryTimer = undefined;
    const { server, isNewRound } = this.#ring.next();
    if (isNewRound) {
      this.#rounds += 1;
      const pauseMs = Math.min(PAUSE_MS * 2 ** (this.#rounds - 1), PAUSE_MAX_MS) * (0.5 + Math.random());
      this.#retryTimer = setTimeout(() => this.#open(server), pauseMs);
    } else this.#open(server);
  }

  #open(server: ReturnType<ServerRing['next']>['server']): void {
    const { maxReplyBytes, zxidFloor } = this.#options;
    const floor = zxidFloor();
    const connection = new Connection({
      server,
      numbers: this.#numbers,
      credentials: this.credentials,
      // A server that has seen less than we have refuses: views never go back in time.
      lastZxid: floor > this.lastZxid ? floor : this.lastZxid,
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      connectTimeoutMs: Math.max(100, this.timeoutMs / Math.max(2, this.#ring.size)),
      maxReplyBytes,
      onAccepted: (accepted) => this.#accept(connection, accepted),
      onZxid: (zxid) => {
        if (zxid > this.lastZxid) this.lastZxid = zxid;
      },
      onWatchEvent: (reader) => this.#watchEvent(reader),
      onAuthFailed: () => this.#finish('auth-failed', new ZooKeeperError('AUTH_FAILED')),
      bytes: this.bytes,
      onClosed: (reason) => this.#lose(connection, reason),
    });
    this.#connection = connection;
  }

  #accept(connection: Connection, { sessionTimeoutMs, sessionId, password }: Accepted): void {
    if (sessionTimeoutMs <= 0) return this.#finish('expired', new ZooKeeperError('SESSION_EXPIRED'));
    const isNew = this.credentials === undefined;
    this.credentials = { sessionId, password };
    this.timeoutMs = sessionTimeoutMs;
    this.#rounds = 0;
    this.obstacle = undefined;
    this.#ring.succeeded(connection.server);
    clearTimeout(this.#waitTimer);
    this.#waitTimer = undefined;
    for (const identity of this.#identities) connection.sendSetup(authRequest(identity));
    for (const portion of this.watches.portions()) connection.sendSetup(this.#rearmRequest(portion));
    this.state = 'connected';
    for (const pending of this.#queue.splice(0)) connection.send(pending);
    this.#tell({ type: 'connected', server: connection.server, isNew, timeoutMs: sessionTimeoutMs });
  }

  #rearmRequest(portion: Parameters<typeof writeRearm>[1]): Request<void> {
    const withPersistent = portion.persistent.length + portion.recursive.length > 0;
    const setting = { zxid: this.lastZxid, chroot: this.chroot, withPersistent };
    return {
      type: withPersistent ? OP.setWatches2 : OP.setWatches,
      path: undefined,
      isUpdate: false,
      write: (writer) => writeRearm(writer, portion, setting),
      read: () => {},
    };
  }

  #watchEvent(reader: JuteReader): void {
    const event = readWatchEvent(reader, this.chroot);
    if (event !== undefined) this.watches.dispatch(event);
  }

  #lose(connection: Connection, reason: ZooKeeperError): void {
    if (this.#connection !== connection || isOver(this.state)) return;
    this.#connection = undefined;
    this.obstacle = reason;
    const wasConnected = this.state === 'connected';
    this.state = 'connecting';
    if (!this.#isClosing) this.#connect();
    if (wasConnected) this.#tell({ type: 'disconnected', server: connection.server, reason });
  }

  #finish(state: 'expired' | 'auth-failed' | 'closed', error: ZooKeeperError): void {
    if (isOver(this.state)) return;
    this.state = state;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#waitTimer);
    this.#connection?.destroy(error.code);
    for (const { request, reject } of this.#queue.splice(0)) {
      reject(new ZooKeeperError(error.code, { path: request.path }));
    }
    this.#tell({ type: state });
  }

  #tell(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#options.onUncaught(error);
      }
    }
  }
}

function isOver(state: SessionState): boolean {
  return state === 'expired' || state === 'auth-failed' || state === 'closed';
}

function authRequest({ scheme, secret }: Identity): Request<void> {
  return {
    type: OP.auth,
    path: undefined,
    isUpdate: false,
    write: (writer) => void writer.int(0).string(scheme).buffer(secret),
    read: () => {},
  };
}
