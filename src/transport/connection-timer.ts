/** How long a connection may stay in each of its states. */
import { setPeerDeadline } from '../protocol/peer-deadline.ts';
import type { Connection } from './connection/connection.ts';
import type { ConnectionState } from './options/connection-state.ts';
import type { ResolvedConnectionOptions } from './options/options.ts';

const CLOSE_TIMEOUT_MS = 1_000;

type PendingReplies = Readonly<
  Pick<Connection, 'awaitedCount' | 'awaitedBytes' | 'maxFrameBytes'>
>;

const NO_PENDING_REPLIES: PendingReplies = {
  awaitedCount: 0,
  awaitedBytes: 0,
  maxFrameBytes: 0,
};

/**
 * One timer, set again in every state. In `open` it runs out when the server
 * has been silent for too long.
 */
export class ConnectionTimer {
  readonly #options: ResolvedConnectionOptions;
  readonly #getPendingReplies: () => PendingReplies;
  readonly #onTimeout: () => void;
  #heartbeat: HeartbeatDeadline;
  #cancel: (() => void) | undefined;
  #state: ConnectionState = 'closed';
  #tolerance = 1;

  constructor(
    settings: ResolvedConnectionOptions,
    line: () => PendingReplies | undefined,
    onElapsed: () => void,
  ) {
    this.#options = settings;
    this.#getPendingReplies = () => line() ?? NO_PENDING_REPLIES;
    this.#onTimeout = onElapsed;
    this.#heartbeat = new HeartbeatDeadline(
      settings.heartbeatIntervalMs,
      this.#tolerance,
    );
  }

  /**
   * The server said something: an open connection may stay so for another
   * while.
   */
  recordReceived(): void {
    this.#heartbeat.recordReceived(this.#options.scheduling.now());
  }

  /**
   * A message of so many bytes is on its way, in which nothing else can be
   * heard.
   */
  extendForBytes(bytes: number): void {
    this.#heartbeat.extendForBytes(bytes);
  }

  /**
   * An answer is awaited from now on; `isLarge` says whether that to a large
   * message.
   */
  expectReply(isLarge: boolean): void {
    if (isLarge)
      this.#heartbeat.recordUpload(
        this.#getPendingReplies().awaitedBytes,
        this.#options.scheduling.now(),
      );
    // The clock is read for the first of many only: each operation comes here.
    if (this.#state !== 'open' || !this.#heartbeat.expectReply()) return;
    this.#heartbeat.begin(this.#options.scheduling.now());
    this.#check();
  }

  /**
   * The connection entered `state`; `backoffMs` is how long to stay in
   * `waiting`.
   */
  arm(state: ConnectionState, backoffMs: number): void {
    const from = this.#state;
    this.#state = state;
    if (from === 'probing')
      this.#tolerance = adjustTolerance(this.#tolerance, state === 'open');
    // Before it is open: what waited is submitted before `open` is reported.
    if (state === 'handshaking')
      this.#heartbeat = new HeartbeatDeadline(
        this.#options.heartbeatIntervalMs,
        this.#tolerance,
      );
    if (state === 'open') this.#startHeartbeat(from);
    else if (state === 'waiting') this.#setTimer(this.#onTimeout, backoffMs);
    else this.#setDeadline(this.#getTimeoutMs(state));
  }

  #setDeadline(delayMs: number): void {
    this.#cancel?.();
    const { scheduling } = this.#options;
    this.#cancel =
      delayMs === Infinity
        ? undefined
        : setPeerDeadline(scheduling, this.#onTimeout, delayMs);
  }

  #startHeartbeat(from: ConnectionState): void {
    const nowMs = this.#options.scheduling.now();
    if (from === 'probing') this.#heartbeat.recordReply(nowMs);
    else this.#heartbeat.begin(nowMs);
    this.#check();
    // Entered with operations that were submitted at once.
    if (from !== 'probing' && this.#getPendingReplies().awaitedCount > 0)
      this.expectReply(false);
  }

  #check(): void {
    const { awaitedCount, awaitedBytes, maxFrameBytes } =
      this.#getPendingReplies();
    if (awaitedCount === 0) this.#heartbeat.useIdleInterval();
    const leftMs = this.#heartbeat.getRemainingMs(
      this.#options.scheduling.now(),
      awaitedBytes,
      maxFrameBytes,
    );
    // Looked at again after the limit: by then what was large may have come.
    if (leftMs > 0)
      this.#setTimer(
        () => this.#check(),
        Math.min(leftMs, this.#heartbeat.limitMs),
      );
    else this.#onTimeout();
  }

  #setTimer(fn: () => void, delayMs: number): void {
    this.#cancel?.();
    this.#cancel =
      delayMs === Infinity
        ? undefined
        : this.#options.scheduling.setTimer(fn, delayMs);
  }

  #getTimeoutMs(state: ConnectionState): number {
    const { connectTimeoutMs, pongTimeoutMs } = this.#options;
    switch (state) {
      case 'connecting':
      case 'handshaking':
        return connectTimeoutMs;
      case 'probing':
        return pongTimeoutMs * this.#tolerance;
      case 'closing':
        return CLOSE_TIMEOUT_MS;
      case 'open':
      case 'waiting':
      case 'closed':
        return Infinity;
    }
  }
}

const AWAITED_HEARTBEAT_DIVISOR = 5;

/**
 * The maximum factor of the wait: with the same wait, a large answer on a slow
 * link would be resent without end.
 */
const MAX_TOLERANCE = 8;

/**
 * The patience for the next line, after a server did or did not answer when it
 * was asked.
 */
export function adjustTolerance(
  patience: number,
  wasAnswered: boolean,
): number {
  return wasAnswered
    ? Math.max(1, patience / 2)
    : Math.min(MAX_TOLERANCE, patience * 2);
}

/**
 * The slowest link for which a large message is allowed its time at once, in
 * bytes a second.
 */
const SLOW_LINK_BYTES_PER_SECOND = 1 << 15;

export class HeartbeatDeadline {
  readonly #heartbeatIntervalMs: number;
  readonly #awaitedIntervalMs: number;
  readonly #msPerByte: number;
  #limitMs: number;
  #silentSinceMs = 0;
  /** For large messages of the server that are on their way. */
  #allowanceMs = 0;
  /**
   * When those of the client have been taken, even by a slow link, and how many
   * bytes those were.
   */
  #uploadedAtMs = 0;
  #sentBytes = 0;
  /**
   * Whether an answer was requested since the server's last message. The caller
   * may have given up meanwhile.
   */
  #isReplyExpected = false;

  constructor(heartbeatMs: number, patience: number) {
    this.#heartbeatIntervalMs = heartbeatMs;
    this.#awaitedIntervalMs = Math.min(
      heartbeatMs,
      (heartbeatMs / AWAITED_HEARTBEAT_DIVISOR) * patience,
    );
    this.#msPerByte = (1000 / SLOW_LINK_BYTES_PER_SECOND) * patience;
    this.#limitMs = heartbeatMs;
  }

  /** What was said before now does not count. */
  begin(nowMs: number): void {
    this.#silentSinceMs = nowMs;
  }

  recordReceived(nowMs: number): void {
    this.#silentSinceMs = nowMs;
    this.#allowanceMs = 0;
    this.#sentBytes = 0;
    this.#isReplyExpected = false;
  }

  /**
   * A message of so many bytes is on its way from the server: nothing else can
   * be heard meanwhile.
   */
  extendForBytes(bytes: number): void {
    this.#allowanceMs += bytes * this.#msPerByte;
  }

  /**
   * So many bytes of large messages are on their way to the server, which
   * answers none before it has come.
   */
  recordUpload(bytes: number, nowMs: number): void {
    this.#uploadedAtMs = nowMs + bytes * this.#msPerByte;
    this.#sentBytes = bytes;
  }

  /** The server answered when it was asked. */
  recordReply(nowMs: number): void {
    this.#silentSinceMs = nowMs;
    this.#sentBytes = 0;
    this.#isReplyExpected = false;
    this.#limitMs = Math.min(2 * this.#limitMs, this.#heartbeatIntervalMs);
  }

  /**
   * Nothing is awaited. What was asked for and given up does not make the
   * silence a better one.
   */
  useIdleInterval(): void {
    if (!this.#isReplyExpected) this.#limitMs = this.#heartbeatIntervalMs;
  }

  /**
   * An answer is awaited from now on; returns whether that makes the time
   * shorter: it is to `begin` then.
   */
  expectReply(): boolean {
    this.#isReplyExpected = true;
    if (this.#limitMs <= this.#awaitedIntervalMs) return false;
    this.#limitMs = this.#awaitedIntervalMs;
    return true;
  }

  /**
   * The time left while so many bytes of large messages are unanswered; some
   * must be answered meanwhile.
   */
  getRemainingMs(nowMs: number, bytes: number, maxBytes: number): number {
    // Also what was given up is on its way.
    const uploadBytes = Math.min(maxBytes, Math.max(bytes, this.#sentBytes));
    const uploadMs = Math.max(
      0,
      Math.min(
        this.#uploadedAtMs - this.#silentSinceMs,
        uploadBytes * this.#msPerByte,
      ),
    );
    return (
      this.#limitMs +
      this.#allowanceMs +
      uploadMs -
      (nowMs - this.#silentSinceMs)
    );
  }

  /** How long it may last if nothing large is on its way. */
  get limitMs(): number {
    return this.#limitMs;
  }
}
