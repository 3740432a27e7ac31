/**
 * Keeps two sessions. ZooKeeper answers the requests of a session in order. With one session, a
 * preliminary read would wait behind an update.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { replaceErrorWith, isZooKeeperError, ZooKeeperError } from './client/errors.ts';
import { ZooKeeper } from './client/zookeeper.ts';
import {
  createClosedError,
  createRestoredWarning,
  isBusy,
  isConnectionLost,
  toNotAppliedError,
} from './errors.ts';
import type { Place } from './operation-call.ts';
import type { ResolvedBindingOptions } from './options.ts';
import { parseSequenceNumber, type Paths } from './paths.ts';

const ID_BYTES = 6;
/** How often a request to a busy server is retried before it fails: about three seconds in all. */
const MAX_ATTEMPTS = 8;
const INITIAL_BUSY_DELAY_MS = 20;
const MAX_BUSY_DELAY_MS = 1_000;
/** How long a binding whose identity was refused waits, at most. */
const MAX_AUTH_PAUSE_MS = 5_000;

type SessionRole = 'reader' | 'writer';

export class SessionPair {
  /** The name of this binding in claims. */
  readonly consumerId: string = randomBytes(ID_BYTES)
    .toString('base64url')
    .replaceAll(/[-_]/g, '0');
  /**
   * Whether the writer's server sends preliminary replies (`research/zookeeper-czk`). `undefined`
   * until one was requested.
   */
  hasPreliminaryReplies: boolean | undefined;
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  /** The session for preliminary views. Its requests never wait for the ensemble. */
  reader: ZooKeeper;
  /** The session for updates and for reads after a `sync`, in the order in which they were made. */
  writer: ZooKeeper;
  /**
   * Counts the sessions of the writer. A later session does not get the notifications of an earlier
   * one.
   */
  writerCount = 0;
  /**
   * Counts the histories of the ensemble: it begins another one when it is restored from a backup
   * or created again.
   */
  history = 0;
  #registered: Promise<void> | undefined;
  /** The last transaction that ended sessions have seen, in this history. */
  #minZxid = 0n;
  /** In which history each session has begun. */
  readonly #histories = new WeakMap<ZooKeeper, number>();
  readonly #onRestored: () => void;
  readonly #authTimers: { [role in SessionRole]?: NodeJS.Timeout } = {};
  /** Whether a refusal of `auth` was reported, and no acceptance followed. */
  #isRefusalReported = false;
  #isClosing = false;
  #isClosed = false;

  /** `onRestored` is called when the ensemble has lost its history. */
  constructor(options: ResolvedBindingOptions, paths: Paths, onRestored: () => void = () => {}) {
    this.#options = options;
    this.#paths = paths;
    this.#onRestored = onRestored;
    this.writer = this.#open('writer');
    this.reader = this.#open('reader');
  }

  /** From now on nothing new begins. Requests in flight continue until `close`. */
  beginClosing(): void {
    this.#isClosing = true;
  }

  /**
   * Resolves when both sessions are connected. Rejects if they are not within the session timeout.
   */
  async whenConnected(): Promise<void> {
    const { servers, sessionTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const cause = this.writer.blockedBy ?? this.reader.blockedBy;
        const message = `no connection to ${servers} within ${sessionTimeoutMs} ms${cause ? `: ${cause.message}` : ''}`;
        reject(new CorrectableError('UNAVAILABLE', message, { cause }));
      }, sessionTimeoutMs);
    });
    try {
      await Promise.race([
        Promise.all([this.reader.whenConnected(), this.writer.whenConnected()]),
        tooLate,
      ]);
    } catch (error) {
      throw toNotAppliedError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the session of the updates has seen. */
  get place(): Place {
    const { writer } = this;
    return { zxid: writer.lastZxid, history: this.getHistory(writer) };
  }

  /** Returns the history of the ensemble in which a session has begun. */
  getHistory(zk: ZooKeeper): number {
    return this.#histories.get(zk) ?? 0;
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    const [reader, writer] = [this.reader.bytes, this.writer.bytes];
    return {
      sent: reader.sent + writer.sent,
      received: reader.received + writer.received,
    };
  }

  /**
   * Repeats a request on other connections and sessions, until it is answered or the binding
   * closes.
   */
  async retryLost<T>(role: SessionRole, request: (zk: ZooKeeper) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request(role === 'reader' ? this.reader : this.writer);
      } catch (error) {
        if (!isConnectionLost(error) || this.#isClosed) throw error;
      }
    }
  }

  /**
   * Like `retryLost`, but also retries requests that a busy server rejects, with growing pauses.
   */
  async retryBusy<T>(role: SessionRole, request: (zk: ZooKeeper) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.retryLost(role, request);
      } catch (error) {
        if (!isBusy(error) || attempt === MAX_ATTEMPTS || this.#isClosed) throw error;
      }
      await pause(
        Math.min(INITIAL_BUSY_DELAY_MS * 2 ** attempt, MAX_BUSY_DELAY_MS) *
          (0.5 + Math.random() / 2),
      );
    }
  }

  /**
   * Registers the binding as alive, once for each session. The orphan recovery takes every claim
   * whose consumer is not registered.
   */
  register(): Promise<void> {
    this.#registered ??= this.#registerNow().catch((error: unknown) => {
      this.#registered = undefined;
      throw error;
    });
    return this.#registered;
  }

  /** Resolves when the binding is connected and registered. No claim may be in flight before. */
  async whenRegistered(): Promise<void> {
    await this.retryLost('writer', (zk) => zk.whenConnected());
    await this.register();
  }

  /** Creates a persistent node and its ancestors, if they are missing. */
  async createPath(path: string): Promise<void> {
    const names = path.slice(1).split('/');
    const paths = names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`);
    await this.retryLost('writer', async (zk) => {
      await Promise.all(
        paths.map((item) => zk.create(item, null).catch(replaceErrorWith('NODE_EXISTS', item))),
      );
    });
  }

  /**
   * Creates a sequential node. Calls `onPreliminary` with the number that it should get, if the
   * server predicts it. The first create shows whether a server does.
   */
  async createSequential(
    path: string,
    data: Uint8Array | null,
    onPreliminary: ((number: number) => void) | undefined,
  ): Promise<string> {
    const { writer } = this;
    const mode = 'persistent-sequential';
    if (onPreliminary === undefined || this.hasPreliminaryReplies === false)
      return writer.create(path, data, { mode });
    const { server } = writer;
    let isGiven = false;
    const created = await writer.create(path, data, {
      mode,
      onPreliminary(name) {
        isGiven = true;
        onPreliminary(parseSequenceNumber(name));
      },
    });
    if (server !== undefined && writer.server === server) this.hasPreliminaryReplies = isGiven;
    return created;
  }

  /** @throws CorrectableError once closing has begun */
  checkOpen(): void {
    if (this.#isClosing) throw createClosedError();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isClosed = true;
    clearTimeout(this.#authTimers.reader);
    clearTimeout(this.#authTimers.writer);
    await Promise.all([this.reader.close(), this.writer.close()]);
  }

  async #registerNow(): Promise<void> {
    const path = this.#paths.consumer(this.consumerId);
    const { maxInFlight, minSlotIntervalMs } = this.#options;
    const throttle: Throttle = { maxInFlight, minSlotIntervalMs };
    await this.retryBusy('writer', async (zk) => {
      for (;;) {
        try {
          return void (await zk.create(path, JSON.stringify(throttle), {
            mode: 'ephemeral',
          }));
        } catch (error) {
          if (isZooKeeperError(error, 'NO_NODE')) await this.createPath(this.#paths.consumers);
          else if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
          else if (await this.#isOwnNode(zk, path)) return;
        }
      }
    });
  }

  /**
   * A node of an own session that has expired is deleted by the server, but later. So it must be
   * replaced.
   */
  async #isOwnNode(zk: ZooKeeper, path: string): Promise<boolean> {
    const node = await zk.exists(path);
    if (node?.ephemeralOwner === zk.sessionId) return true;
    await zk.delete(path).catch(replaceErrorWith('NO_NODE', undefined));
    return false;
  }

  #open(role: SessionRole): ZooKeeper {
    const { servers, sessionTimeoutMs, auth, onBackgroundError } = this.#options;
    const { history } = this;
    const getOtherZxid = (): bigint => {
      const other = role === 'reader' ? this.writer : this.reader;
      const isComparable = other !== undefined && this.#histories.get(other) === history;
      return isComparable ? other.lastZxid : 0n;
    };
    const zk = new ZooKeeper(servers, {
      sessionTimeoutMs,
      // Each session waits for the transactions that the other one has seen, whatever server it
      // connects to.
      getMinZxid: () =>
        history === this.history ? getHigher(getOtherZxid(), this.#minZxid) : getOtherZxid(),
      onUncaught: onBackgroundError,
    });
    this.#histories.set(zk, history);
    if (auth !== undefined) zk.addAuth(auth.scheme, auth.secret);
    zk.onSession((event) => {
      if (event.type === 'expired') {
        if (event.restoredTo !== undefined && history === this.history)
          this.#beginHistory(event.restoredTo);
        this.#replace(role);
      } else if (event.type === 'auth-failed') this.#retryAuth(role);
      else if (event.type === 'connected' && role === 'writer') {
        this.hasPreliminaryReplies = undefined;
        this.reader?.preferServer(event.server);
        if (this.#isRefusalReported) this.#noteAcceptance(zk);
      }
    });
    return zk;
  }

  /** No server has what was seen before, so nothing is compared with it. */
  #beginHistory(restoredTo: bigint): void {
    const seenZxid = getHigher(
      getHigher(this.reader.lastZxid, this.writer.lastZxid),
      this.#minZxid,
    );
    this.history += 1;
    this.#minZxid = 0n;
    this.#onRestored();
    this.#options.onBackgroundError(createRestoredWarning(restoredTo, seenZxid));
  }

  /**
   * Tries another session after a while: the servers may accept the identity again. Until then,
   * requests fail with the true reason.
   */
  #retryAuth(role: SessionRole): void {
    const pauseMs = Math.min(this.#options.sessionTimeoutMs, MAX_AUTH_PAUSE_MS);
    this.#authTimers[role] = setTimeout(() => this.#replace(role), pauseMs);
    if (role === 'reader' || this.#isRefusalReported) return;
    this.#isRefusalReported = true;
    this.#options.onBackgroundError(toNotAppliedError(new ZooKeeperError('AUTH_FAILED')));
  }

  /**
   * A connected session has only sent its identity. The server has accepted it when it answers the
   * next request.
   */
  #noteAcceptance(zk: ZooKeeper): void {
    zk.exists('/').then(
      () => (this.#isRefusalReported = false),
      () => {}, // The identity was refused again, or the connection is lost.
    );
  }

  #replace(role: SessionRole): void {
    if (this.#isClosed) return;
    const ended = role === 'reader' ? this.reader : this.writer;
    if (this.#histories.get(ended) === this.history)
      this.#minZxid = getHigher(this.#minZxid, ended.lastZxid);
    if (role === 'reader') this.reader = this.#open('reader');
    else {
      this.writerCount += 1;
      this.writer = this.#open('writer');
      const wasRegistered = this.#registered !== undefined;
      this.#registered = undefined;
      if (wasRegistered) void this.register().catch(this.#options.onBackgroundError);
    }
  }
}

function getHigher(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
