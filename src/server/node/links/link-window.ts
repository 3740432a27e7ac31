/**
 * Decides how much one end of a link sends before the other end has confirmed any of it.
 *
 * Sockets and the network buffer megabytes before they hold a sender back, and a heartbeat or a
 * request would wait behind all of that. So the window is about as large as what the link carries
 * in two heartbeats.
 */

/** The initial window. A link of 1 Mbit/s carries it in two seconds. */
const START_BYTES = 1 << 18;
const MIN_BYTES = 1 << 17;
const MAX_BYTES = 1 << 24;
/**
 * The size of the window, as the number of heartbeats in which the link carries it. If the round
 * trip takes longer, the bandwidth of the link is not fully used.
 */
const MAX_DELAY_BEATS = 2;

export class LinkWindow {
  #size = START_BYTES;
  #sent = 0;
  #confirmed = 0;
  #confirmedAtBeat = 0;
  /**
   * Whether the window was full since the last heartbeat, so that a larger one would have been
   * used.
   */
  #wasFull = false;

  /** How many bytes may be sent now. A frame that has begun may exceed it. */
  get room(): number {
    return Math.max(0, this.#size - this.unconfirmed);
  }

  /** Bytes that were sent and are not confirmed. */
  get unconfirmed(): number {
    return this.#sent - this.#confirmed;
  }

  onSent(bytes: number): void {
    this.#sent += bytes;
    if (this.room === 0) this.#wasFull = true;
  }

  /** @param total bytes that the peer has received since the connection was made */
  onConfirmed(total: number): void {
    this.#confirmed = Math.min(this.#sent, Math.max(this.#confirmed, total));
  }

  onBeat(): void {
    const carried = this.#confirmed - this.#confirmedAtBeat;
    this.#confirmedAtBeat = this.#confirmed;
    if (this.#wasFull)
      this.#size = Math.min(MAX_BYTES, Math.max(MIN_BYTES, carried * MAX_DELAY_BEATS));
    this.#wasFull = this.room === 0;
  }
}
