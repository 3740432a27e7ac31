/**
 * A session over several connections. It ends when the ensemble expires it, or when it is closed.
 */
import { formatAddress, type ServerAddress } from '../../shared/server-address.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import {
  Connection,
  encodeFrame,
  type AcceptedSession,
  type PendingRequest,
} from './connection.ts';
import { ZooKeeperError } from './errors.ts';
import type { JuteReader, JuteWriter } from './jute.ts';
import type { Credentials, ResolvedOptions } from './options.ts';
import { Chroot } from './path.ts';
import { createRandomRequestNumbers, createRequestNumbers } from './request-numbers.ts';
import { probeHistory } from './history-probe.ts';
import { OP, type Request } from './requests.ts';
import { ServerPool, type ConnectString } from './server-pool.ts';
import { readWatchEvent, Watches, WATCH_KINDS, type RearmBatch } from './watches.ts';

/**
 * `connecting`: before the first connection and between two. `expired`, `auth-failed` and `closed`
 * are permanent.
 */
export type SessionState = 'connecting' | 'connected' | 'expired' | 'auth-failed' | 'closed';

/** An event of a session. */
export type SessionEvent =
  /**
   * `isNew` means that the session has just begun. Otherwise it continues on another connection
   * with its ephemeral nodes.
   */
  | {
      readonly type: 'connected';
      readonly server: string;
      readonly isNew: boolean;
      readonly timeoutMs: number;
    }
  | {
      readonly type: 'disconnected';
      readonly server: string;
      readonly reason: ZooKeeperError;
    }
  /**
   * The ensemble expired the session, and its ephemeral nodes are deleted. The application needs a
   * new client. `restoredTo` is set if the ensemble was restored from a backup or created again: it
   * is the last transaction of the ensemble, and the session had seen a later one.
   */
  | { readonly type: 'expired'; readonly restoredTo?: bigint }
  | { readonly type: 'auth-failed' }
  | { readonly type: 'closed' };

export type SessionListener = (event: SessionEvent) => void;

interface AuthIdentity {
  readonly scheme: string;
  readonly secret: Uint8Array;
}

/** The first pause after all servers have been tried without success. Each pause is longer. */
const RECONNECT_INTERVAL_MS = 50;
const MAX_RECONNECT_INTERVAL_MS = 2_000;
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Maximum number of requests in flight or waiting. More fail with `TOO_MANY_REQUESTS`, so that an
 * unreachable ensemble does not fill the memory.
 */
const MAX_REQUESTS = 10_000;

/** The errors of requests in a session that has ended. */
const END_ERROR_CODES = {
  expired: 'SESSION_EXPIRED',
  'auth-failed': 'AUTH_FAILED',
  closed: 'CLIENT_CLOSED',
} as const;
type EndState = keyof typeof END_ERROR_CODES;

/** Returns the error code of requests in a session that has ended. */
export function getEndErrorCode(
  state: SessionState,
): (typeof END_ERROR_CODES)[EndState] | undefined {
  return state === 'connecting' || state === 'connected' ? undefined : END_ERROR_CODES[state];
}

export class ZooKeeperSession {
  readonly watches: Watches;
  readonly chroot: Chroot;
  readonly bytes = { sent: 0, received: 0 };
  lastZxid = 0n;
  state: SessionState = 'connecting';
  /** `undefined` before the session has begun. */
  credentials: Credentials | undefined;
  /** The negotiated timeout, once there is one. */
  timeoutMs: number;
  /**
   * Why there is no connection. `undefined` while there is one, and before the first attempt has
   * failed.
   */
  blockedBy: ZooKeeperError | undefined;
  readonly #options: ResolvedOptions;
  readonly #serverPool: ServerPool;
  readonly #listeners = new Set<SessionListener>();
  readonly #identities: AuthIdentity[] = [];
  readonly #nextRequestNumber: () => number;
  #connection: Connection | undefined;
  #waitingRequests: PendingRequest[] = [];
  #roundCount = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #waitTimer: NodeJS.Timeout | undefined;
  /** The servers of this round that refused the session. */
  readonly #refusedBy = new Map<string, ServerAddress>();
  /** Since when there is no connection, by `performance.now()`. */
  #lostAtMs = performance.now();
  #stopProbe: (() => void) | undefined;
  /** Why the session has expired, if it is no usual reason. */
  #endHint: string | undefined;
  #isClosing = false;

  constructor({ servers, chroot }: ConnectString, options: ResolvedOptions) {
    this.#options = options;
    this.credentials = options.credentials;
    this.#nextRequestNumber =
      options.credentials === undefined ? createRequestNumbers() : createRandomRequestNumbers();
    this.chroot = new Chroot(chroot);
    this.watches = new Watches(options.onUncaught);
    this.#serverPool = new ServerPool(servers);
    this.timeoutMs = options.sessionTimeoutMs;
    this.#connect();
  }

  /** The number of the session. 0 before it has begun. */
  get id(): bigint {
    return this.credentials?.sessionId ?? 0n;
  }

  get server(): string | undefined {
    return this.state === 'connected' ? this.#connection?.server : undefined;
  }

  addListener(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  submit<T>(request: Request<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const rejection = this.#getRejection(request);
      if (rejection !== undefined) return reject(rejection);
      const frame = encodeFrame(request);
      if (frame.length > this.#options.maxRequestBytes)
        return reject(this.#createTooLargeError(request, frame.length));
      const pending: PendingRequest<T> = {
        request,
        frame,
        resolve,
        reject,
        startedAtMs: performance.now(),
      };
      if (this.state === 'connected') this.#connection?.send(pending as PendingRequest);
      else this.#enqueue(pending as PendingRequest);
    });
  }

  addIdentity(identity: AuthIdentity): void {
    this.#identities.push(identity);
    if (this.state === 'connected') this.#connection?.sendSetup(createAuthRequest(identity));
  }

  preferServer(server: string | undefined): void {
    this.#serverPool.preferServer(server);
    if (
      server !== undefined &&
      this.#connection !== undefined &&
      this.#connection.server !== server
    ) {
      this.#connection.destroy(`moving to ${server}`);
    }
  }

  /** Drops the connection like a failing network. The session continues on another one. */
  dropConnection(): void {
    this.#connection?.destroy('cut');
  }

  async close(): Promise<void> {
    if (this.#isClosing || this.#hasEnded) return;
    this.#isClosing = true;
    if (this.state === 'connected') await this.#sendCloseRequest();
    this.#finish('closed');
  }

  #sendCloseRequest(): Promise<void> {
    const request = createSetupRequest(OP.closeSession, () => {});
    const answered = new Promise<void>((resolve, reject) => {
      this.#connection?.send({
        request,
        frame: encodeFrame(request),
        resolve,
        reject,
        startedAtMs: performance.now(),
      } as PendingRequest);
    });
    return waitUntilSettled(CLOSE_TIMEOUT_MS, [answered]);
  }

  #getRejection({ path }: Request<unknown>): ZooKeeperError | undefined {
    const code = getEndErrorCode(this.#isClosing ? 'closed' : this.state);
    if (code !== undefined) return new ZooKeeperError(code, { path, hint: this.#endHint });
    const inFlight = this.#waitingRequests.length + (this.#connection?.pendingCount ?? 0);
    return inFlight < MAX_REQUESTS ? undefined : new ZooKeeperError('TOO_MANY_REQUESTS', { path });
  }

  #createTooLargeError({ path }: Request<unknown>, bytes: number): ZooKeeperError {
    const hint = `${bytes} bytes are over maxRequestBytes; servers refuse what exceeds their jute.maxbuffer (1 MB)`;
    return new ZooKeeperError('BAD_ARGUMENTS', { path, hint });
  }

  /** Queues a request. Between two connections it waits, for as long as the session could last. */
  #enqueue(pending: PendingRequest): void {
    this.#waitingRequests.push(pending);
    this.#waitTimer ??= setTimeout(() => this.#failWaiting(), this.timeoutMs);
  }

  #failWaiting(): void {
    this.#waitTimer = undefined;
    const since = performance.now() - this.timeoutMs;
    const late = this.#waitingRequests.filter((pending) => pending.startedAtMs <= since);
    this.#waitingRequests = this.#waitingRequests.filter((pending) => pending.startedAtMs > since);
    const cause = this.blockedBy;
    const reason = cause?.hint === undefined ? '' : ` (${cause.hint})`;
    const hint = `no server could be reached for ${this.timeoutMs} ms${reason}; the request was not sent`;
    for (const { request, reject } of late) {
      const details = { path: request.path, hint, cause };
      reject(new ZooKeeperError('CONNECTION_LOSS', details));
    }
    const next = this.#waitingRequests[0];
    if (next !== undefined) {
      const remainingMs = Math.max(1, next.startedAtMs + this.timeoutMs - performance.now());
      this.#waitTimer = setTimeout(() => this.#failWaiting(), remainingMs);
    }
  }

  #connect(): void {
    this.#retryTimer = undefined;
    const { server, isNewRound } = this.#serverPool.getNext();
    if (isNewRound) {
      this.#roundCount += 1;
      const pauseMs =
        Math.min(RECONNECT_INTERVAL_MS * 2 ** (this.#roundCount - 1), MAX_RECONNECT_INTERVAL_MS) *
        (0.5 + Math.random());
      this.#retryTimer = setTimeout(() => this.#beginRound(server), pauseMs);
    } else this.#open(server);
  }

  /**
   * If a server has refused the session and none has accepted it, the ensemble may have lost what
   * the session has seen.
   */
  #beginRound(server: ServerAddress): void {
    const refusedBy = [...this.#refusedBy.values()];
    const seenZxid = this.#getSeenZxid();
    this.#refusedBy.clear();
    if (refusedBy.length === 0 || seenZxid === 0n) return this.#open(server);
    this.#stopProbe = probeHistory({
      servers: refusedBy,
      serverCount: this.#serverPool.size,
      seenZxid,
      isOverdue: performance.now() - this.#lostAtMs > this.timeoutMs,
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      connectTimeoutMs: this.#connectTimeoutMs,
      maxReplyBytes: this.#options.maxReplyBytes,
      bytes: this.bytes,
      onResult: (restoredTo) => {
        this.#stopProbe = undefined;
        if (restoredTo === undefined) this.#open(server);
        else this.#handleRestored(restoredTo, seenZxid);
      },
    });
  }

  #handleRestored(zxid: bigint, seenZxid: bigint): void {
    this.#endHint = `the ensemble was restored from a backup or created again: its last transaction is ${formatZxid(zxid)}, and this session had seen ${formatZxid(seenZxid)}`;
    this.#finish('expired', { restoredTo: zxid });
  }

  /**
   * Returns the last transaction that this client has seen. A server that has not applied it
   * rejects the connection, so views never go back in time.
   */
  #getSeenZxid(): bigint {
    const minZxid = this.#options.getMinZxid();
    return minZxid > this.lastZxid ? minZxid : this.lastZxid;
  }

  get #connectTimeoutMs(): number {
    return Math.max(100, this.timeoutMs / Math.max(2, this.#serverPool.size));
  }

  #open(server: ServerAddress): void {
    const { maxReplyBytes } = this.#options;
    const connection = new Connection({
      server,
      nextRequestNumber: this.#nextRequestNumber,
      credentials: this.credentials,
      lastZxid: this.#getSeenZxid(),
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      connectTimeoutMs: this.#connectTimeoutMs,
      maxReplyBytes,
      onAccepted: (accepted) => this.#handleAccepted(connection, accepted),
      onZxid: (zxid) => {
        if (zxid > this.lastZxid) this.lastZxid = zxid;
      },
      onWatchEvent: (reader) => this.#handleWatchEvent(reader),
      onAuthFailed: () => this.#finish('auth-failed'),
      bytes: this.bytes,
      onClosed: (reason) => {
        if (connection.wasRefused) this.#refusedBy.set(formatAddress(server), server);
        this.#handleLoss(connection, reason);
      },
    });
    this.#connection = connection;
  }

  #handleAccepted(
    connection: Connection,
    { sessionTimeoutMs, sessionId, password }: AcceptedSession,
  ): void {
    if (sessionTimeoutMs <= 0) return this.#finish('expired');
    const isNew = this.credentials === undefined;
    this.credentials = { sessionId, password };
    this.timeoutMs = sessionTimeoutMs;
    this.#roundCount = 0;
    this.#refusedBy.clear();
    this.blockedBy = undefined;
    this.#serverPool.recordSuccess(connection.server);
    clearTimeout(this.#waitTimer);
    this.#waitTimer = undefined;
    for (const identity of this.#identities) connection.sendSetup(createAuthRequest(identity));
    for (const portion of this.watches.getRearmBatches())
      connection.sendSetup(this.#createRearmRequest(portion));
    this.state = 'connected';
    for (const pending of this.#waitingRequests.splice(0)) connection.send(pending);
    this.#notifyListeners({
      type: 'connected',
      server: connection.server,
      isNew,
      timeoutMs: sessionTimeoutMs,
    });
  }

  /**
   * Creates a request that restores watches. The server at once reports changes that the client has
   * missed since its last transaction.
   */
  #createRearmRequest(batch: RearmBatch): Request<void> {
    const withPersistent = batch.persistent.length + batch.recursive.length > 0;
    const kinds = withPersistent ? WATCH_KINDS : (['data', 'exists', 'children'] as const);
    return createSetupRequest(withPersistent ? OP.setWatches2 : OP.setWatches, (writer) => {
      writer.long(this.lastZxid);
      for (const kind of kinds)
        writer.list(batch[kind], (to, path) => to.string(this.chroot.toServerPath(path)));
    });
  }

  #handleWatchEvent(reader: JuteReader): void {
    const event = readWatchEvent(reader, this.chroot);
    if (event !== undefined) this.watches.dispatch(event);
  }

  #handleLoss(connection: Connection, reason: ZooKeeperError): void {
    if (this.#connection !== connection || this.#hasEnded) return;
    this.#connection = undefined;
    this.blockedBy = reason;
    const wasConnected = this.state === 'connected';
    if (wasConnected) this.#lostAtMs = performance.now();
    this.state = 'connecting';
    if (!this.#isClosing) this.#connect();
    if (wasConnected)
      this.#notifyListeners({
        type: 'disconnected',
        server: connection.server,
        reason,
      });
  }

  get #hasEnded(): boolean {
    return getEndErrorCode(this.state) !== undefined;
  }

  #finish(state: EndState, details: { restoredTo?: bigint } = {}): void {
    if (this.#hasEnded) return;
    const code = END_ERROR_CODES[state];
    this.state = state;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#waitTimer);
    this.#stopProbe?.();
    this.#connection?.destroy(code);
    const hint = this.#endHint;
    for (const { request, reject } of this.#waitingRequests.splice(0)) {
      reject(new ZooKeeperError(code, { path: request.path, hint }));
    }
    this.#notifyListeners({ type: state, ...details });
  }

  #notifyListeners(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#options.onUncaught(error);
      }
    }
  }
}

function formatZxid(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}

function createAuthRequest({ scheme, secret }: AuthIdentity): Request<void> {
  return createSetupRequest(OP.auth, (writer) => void writer.int(0).string(scheme).buffer(secret));
}

/** Creates a request about the session itself, whose reply has no content. */
function createSetupRequest(type: number, write: (writer: JuteWriter) => void): Request<void> {
  return { type, path: undefined, isWrite: false, write, read: () => {} };
}
