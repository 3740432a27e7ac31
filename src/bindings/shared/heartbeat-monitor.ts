/**
 * Detects that the other end of a connection is silent. Sockets report a lost peer only after
 * minutes, if at all.
 */
export interface HeartbeatMonitorOptions {
  readonly intervalMs: number;
  /** The longest accepted silence, in milliseconds. */
  readonly maxSilenceMs: number;
  /**
   * After a stall of this process, the silence counts as no longer than this, because bytes that
   * arrived meanwhile are still unread.
   */
  readonly stallMs: number;
  /** Called at every check with the duration of the silence. It may send a heartbeat. */
  readonly onHeartbeatDue: (silentMs: number) => void;
  /** Called once when the peer has been silent for too long. */
  readonly onSilence: (silentMs: number) => void;
}

export class HeartbeatMonitor {
  readonly #options: HeartbeatMonitorOptions;
  readonly #timer: NodeJS.Timeout;
  #lastReceivedAt = performance.now();
  #lastHeartbeatAt = this.#lastReceivedAt;
  #pendingCheck: NodeJS.Immediate | undefined;

  constructor(options: HeartbeatMonitorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#checkSoon(), options.intervalMs);
  }

  recordReceived(): void {
    this.#lastReceivedAt = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#pendingCheck);
  }

  #checkSoon(): void {
    const { intervalMs, maxSilenceMs, stallMs, onHeartbeatDue } = this.#options;
    const now = performance.now();
    if (now - this.#lastHeartbeatAt > 2 * intervalMs)
      this.#lastReceivedAt = Math.max(this.#lastReceivedAt, now - stallMs);
    this.#lastHeartbeatAt = now;
    const silentMs = now - this.#lastReceivedAt;
    if (silentMs <= maxSilenceMs) return onHeartbeatDue(silentMs);
    // Check after the sockets were read: the timer fires before that, and bytes that have arrived
    // must count.
    this.#pendingCheck ??= setImmediate(() => this.#check());
    return undefined;
  }

  #check(): void {
    this.#pendingCheck = undefined;
    const silentMs = performance.now() - this.#lastReceivedAt;
    if (silentMs <= this.#options.maxSilenceMs) return;
    this.stop();
    this.#options.onSilence(silentMs);
  }
}
