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
 * One timer that is set again in every state. In `open` it fires when the server has been silent
 * for too long.
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
    this.#heartbeat = new HeartbeatDeadline(settings.heartbeatIntervalMs, this.#tolerance);
  }

  /** Notes that the server has sent something, which restarts the time until the next heartbeat. */
  recordReceived(): void {
    this.#heartbeat.recordReceived(this.#options.scheduling.now());
  }

  /**
   * Extends the time without a heartbeat, for a message of this many bytes. Until all of it has
   * arrived, no heartbeat can arrive.
   */
  extendForBytes(bytes: number): void {
    this.#heartbeat.extendForBytes(bytes);
  }

  /** Notes that a reply is expected. `isLarge` means the reply to a large message. */
  expectReply(isLarge: boolean): void {
    if (isLarge)
      this.#heartbeat.recordUpload(
        this.#getPendingReplies().awaitedBytes,
        this.#options.scheduling.now(),
      );
    // Every operation calls this method, so the clock is read only for the first one that waits for
    // a reply.
    if (this.#state !== 'open' || !this.#heartbeat.expectReply()) return;
    this.#heartbeat.begin(this.#options.scheduling.now());
    this.#check();
  }

  /** Sets the timer for `state`. `backoffMs` is how long to stay in `waiting`. */
  arm(state: ConnectionState, backoffMs: number): void {
    const from = this.#state;
    this.#state = state;
    if (from === 'probing') this.#tolerance = adjustTolerance(this.#tolerance, state === 'open');
    // Create this before the state `open` begins: waiting operations are submitted before `open` is
    // reported.
    if (state === 'handshaking')
      this.#heartbeat = new HeartbeatDeadline(this.#options.heartbeatIntervalMs, this.#tolerance);
    if (state === 'open') this.#startHeartbeat(from);
    else if (state === 'waiting') this.#setTimer(this.#onTimeout, backoffMs);
    else this.#setDeadline(this.#getTimeoutMs(state));
  }

  #setDeadline(delayMs: number): void {
    this.#cancel?.();
    const { scheduling } = this.#options;
    this.#cancel =
      delayMs === Infinity ? undefined : setPeerDeadline(scheduling, this.#onTimeout, delayMs);
  }

  #startHeartbeat(from: ConnectionState): void {
    const nowMs = this.#options.scheduling.now();
    if (from === 'probing') this.#heartbeat.recordReply(nowMs);
    else this.#heartbeat.begin(nowMs);
    this.#check();
    // Waiting operations were submitted before this state was reported, so replies are expected
    // already.
    if (from !== 'probing' && this.#getPendingReplies().awaitedCount > 0) this.expectReply(false);
  }

  #check(): void {
    const { awaitedCount, awaitedBytes, maxFrameBytes } = this.#getPendingReplies();
    if (awaitedCount === 0) this.#heartbeat.useIdleInterval();
    const remainingMs = this.#heartbeat.getRemainingMs(
      this.#options.scheduling.now(),
      awaitedBytes,
      maxFrameBytes,
    );
    // Check again after the interval: a large message that arrives meanwhile changes the remaining
    // time.
    if (remainingMs > 0)
      this.#setTimer(() => this.#check(), Math.min(remainingMs, this.#heartbeat.limitMs));
    else this.#onTimeout();
  }

  #setTimer(fn: () => void, delayMs: number): void {
    this.#cancel?.();
    this.#cancel =
      delayMs === Infinity ? undefined : this.#options.scheduling.setTimer(fn, delayMs);
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
 * The maximum by which the tolerance multiplies the times of a heartbeat. Without growing times, a
 * large reply on a slow network would be resent again and again, because each connection would end
 * before the reply has arrived.
 */
const MAX_TOLERANCE = 8;

/**
 * Returns the factor for the heartbeat times of the next connection. It halves if the server
 * replied to a heartbeat, and doubles if not.
 */
export function adjustTolerance(patience: number, wasAnswered: boolean): number {
  return wasAnswered ? Math.max(1, patience / 2) : Math.min(MAX_TOLERANCE, patience * 2);
}

/**
 * The speed of a slow network, in bytes per second. On a network of at least this speed, a large
 * message gets enough time on the first attempt.
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
   * The time by which a slow network will have sent the client's large messages. The next field is
   * the number of their bytes.
   */
  #uploadedAtMs = 0;
  #sentBytes = 0;
  /**
   * Whether a reply was requested since the server's last message. Stays true if the caller gives
   * up.
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
   * Extends the time for a message of this many bytes from the server. Until that message has
   * arrived, no other message can arrive.
   */
  extendForBytes(bytes: number): void {
    this.#allowanceMs += bytes * this.#msPerByte;
  }

  /**
   * Notes large messages of this many bytes to the server. The server cannot answer a message
   * before it has arrived.
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
   * Uses the longer interval, because no reply is expected. An operation whose caller gave up still
   * expects a reply, so it keeps the shorter interval.
   */
  useIdleInterval(): void {
    if (!this.#isReplyExpected) this.#limitMs = this.#heartbeatIntervalMs;
  }

  /**
   * Notes that a reply is expected. Returns whether that makes the time shorter, so that `begin`
   * has to be called.
   */
  expectReply(): boolean {
    this.#isReplyExpected = true;
    if (this.#limitMs <= this.#awaitedIntervalMs) return false;
    this.#limitMs = this.#awaitedIntervalMs;
    return true;
  }

  /**
   * Returns the time that is left until the next heartbeat. `bytes` is the size of the large
   * messages that the server has not answered yet, of which `maxBytes` count at most.
   */
  getRemainingMs(nowMs: number, bytes: number, maxBytes: number): number {
    // A large message whose caller gave up is still being sent, so it counts too.
    const uploadBytes = Math.min(maxBytes, Math.max(bytes, this.#sentBytes));
    const uploadMs = Math.max(
      0,
      Math.min(this.#uploadedAtMs - this.#silentSinceMs, uploadBytes * this.#msPerByte),
    );
    return this.#limitMs + this.#allowanceMs + uploadMs - (nowMs - this.#silentSinceMs);
  }

  /** How long the silence may last if no large message is on its way. */
  get limitMs(): number {
    return this.#limitMs;
  }
}
