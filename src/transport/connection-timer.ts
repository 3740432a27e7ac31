/** Limits how long a connection may stay in each of its states. */
import { setPeerDeadline } from '../protocol/peer-deadline.ts';
import type { ConnectionState } from './options/connection-state.ts';
import type { ResolvedConnectionOptions } from './options/options.ts';

const CLOSE_TIMEOUT_MS = 1_000;

/** The operations of a connection that wait for a reply. */
interface PendingReplies {
  readonly awaitedCount: number;
  readonly awaitedBytes: number;
  readonly maxFrameBytes: number;
}

const NO_PENDING_REPLIES: PendingReplies = {
  awaitedCount: 0,
  awaitedBytes: 0,
  maxFrameBytes: 0,
};

/**
 * One timer that is set again in every state. In `open` it fires when the
 * server has been silent for too long.
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
    connection: () => PendingReplies | undefined,
    onElapsed: () => void,
  ) {
    this.#options = settings;
    this.#getPendingReplies = () => connection() ?? NO_PENDING_REPLIES;
    this.#onTimeout = onElapsed;
    this.#heartbeat = new HeartbeatDeadline(
      settings.heartbeatIntervalMs,
      this.#tolerance,
    );
  }

  /**
   * Notes that the server has sent something, so an open connection may stay so
   * for another while.
   */
  recordReceived(): void {
    this.#heartbeat.recordReceived(this.#options.scheduling.now());
  }

  /**
   * Extends the time without a heartbeat, for a message of this many bytes.
   * Until all of it has arrived, no heartbeat can arrive.
   */
  extendForBytes(bytes: number): void {
    this.#heartbeat.extendForBytes(bytes);
  }

  /**
   * Notes that a reply is expected. `isLarge` means the reply to a large
   * message.
   */
  expectReply(isLarge: boolean): void {
    if (isLarge)
      this.#heartbeat.recordUpload(
        this.#getPendingReplies().awaitedBytes,
        this.#options.scheduling.now(),
      );
    // The clock is read for the first of many operations only, because every
    // operation comes here.
    if (this.#state !== 'open' || !this.#heartbeat.expectReply()) return;
    this.#heartbeat.begin(this.#options.scheduling.now());
    this.#check();
  }

  /**
   * Sets the timer for `state`. `backoffMs` is how long to stay in `waiting`.
   */
  arm(state: ConnectionState, backoffMs: number): void {
    const from = this.#state;
    this.#state = state;
    if (from === 'probing')
      this.#tolerance = adjustTolerance(this.#tolerance, state === 'open');
    // This comes before the state `open`, because waiting operations are
    // submitted before `open` is reported.
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
    // The state was entered with operations that were submitted at once.
    if (from !== 'probing' && this.#getPendingReplies().awaitedCount > 0)
      this.expectReply(false);
  }

  #check(): void {
    const { awaitedCount, awaitedBytes, maxFrameBytes } =
      this.#getPendingReplies();
    if (awaitedCount === 0) this.#heartbeat.useIdleInterval();
    const remainingMs = this.#heartbeat.getRemainingMs(
      this.#options.scheduling.now(),
      awaitedBytes,
      maxFrameBytes,
    );
    // Checked again after the limit. By then a large message may have arrived.
    if (remainingMs > 0)
      this.#setTimer(
        () => this.#check(),
        Math.min(remainingMs, this.#heartbeat.limitMs),
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
 * The maximum factor of the wait. With the same wait each time, a large reply
 * on a slow network would be resent without end.
 */
const MAX_TOLERANCE = 8;

/**
 * Returns the tolerance for the next connection, after a server did or did not
 * reply to a heartbeat.
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
 * The slowest network for which a large message gets its full time at once, in
 * bytes per second.
 */
const SLOW_LINK_BYTES_PER_SECOND = 1 << 15;

export class HeartbeatDeadline {
  readonly #heartbeatIntervalMs: number;
  readonly #awaitedIntervalMs: number;
  readonly #msPerByte: number;
  #limitMs: number;
  #silentSinceMs = 0;
  /** The time for large messages from the server that are on their way. */
  #allowanceMs = 0;
  /**
   * When even a slow network would have sent the client's large messages, and
   * the number of their bytes.
   */
  #uploadedAtMs = 0;
  #sentBytes = 0;
  /**
   * Whether a reply was requested since the server's last message. The caller
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

  /** Starts to count the silence. Earlier messages do not count. */
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
   * Extends the time for a message of this many bytes from the server. Until it
   * has arrived, nothing else can.
   */
  extendForBytes(bytes: number): void {
    this.#allowanceMs += bytes * this.#msPerByte;
  }

  /**
   * Notes large messages of this many bytes to the server. It answers none of
   * them before they have arrived.
   */
  recordUpload(bytes: number, nowMs: number): void {
    this.#uploadedAtMs = nowMs + bytes * this.#msPerByte;
    this.#sentBytes = bytes;
  }

  /** Notes that the server replied to a heartbeat. */
  recordReply(nowMs: number): void {
    this.#silentSinceMs = nowMs;
    this.#sentBytes = 0;
    this.#isReplyExpected = false;
    this.#limitMs = Math.min(2 * this.#limitMs, this.#heartbeatIntervalMs);
  }

  /**
   * Uses the longer interval, because no reply is expected. Operations that
   * were requested and given up do not excuse the silence.
   */
  useIdleInterval(): void {
    if (!this.#isReplyExpected) this.#limitMs = this.#heartbeatIntervalMs;
  }

  /**
   * Notes that a reply is expected. Returns whether that makes the time
   * shorter, so that `begin` has to be called.
   */
  expectReply(): boolean {
    this.#isReplyExpected = true;
    if (this.#limitMs <= this.#awaitedIntervalMs) return false;
    this.#limitMs = this.#awaitedIntervalMs;
    return true;
  }

  /**
   * Returns the time left while this many bytes of large messages are
   * unanswered. Some must be answered meanwhile.
   */
  getRemainingMs(nowMs: number, bytes: number, maxBytes: number): number {
    // Messages that were given up are on their way too.
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

  /** How long the silence may last if no large message is on its way. */
  get limitMs(): number {
    return this.#limitMs;
  }
}
