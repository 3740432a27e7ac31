/**
 * How much an end of a link sends before the other one has confirmed any of it.
 *
 * Sockets and the network take megabytes before they hold a sender up, and a
 * heartbeat or a request stands behind all of that. So the window is about what
 * the link carries in two heartbeats.
 */

/** It begins with this: a link of 1 Mbit/s carries it in two seconds. */
const START_BYTES = 1 << 18;
const MIN_BYTES = 1 << 17;
const MAX_BYTES = 1 << 24;
/**
 * In heartbeats. A link whose round trip takes longer is not used to its full.
 */
const MAX_DELAY_BEATS = 2;

export class LinkWindow {
  #size = START_BYTES;
  #sent = 0;
  #confirmed = 0;
  #confirmedAtBeat = 0;
  /** Whether more could have been sent since the last heartbeat. */
  #wasFull = false;

  /**
   * How much may be sent now. What has begun to be sent may go beyond it by one
   * frame.
   */
  get room(): number {
    return Math.max(0, this.#size - this.unconfirmed);
  }

  /** Bytes that were sent and may be on their way. */
  get unconfirmed(): number {
    return this.#sent - this.#confirmed;
  }

  onSent(bytes: number): void {
    this.#sent += bytes;
    if (this.room === 0) this.#wasFull = true;
  }

  /** @param total what the peer has taken since the connection was made */
  onConfirmed(total: number): void {
    this.#confirmed = Math.min(this.#sent, Math.max(this.#confirmed, total));
  }

  onBeat(): void {
    const carried = this.#confirmed - this.#confirmedAtBeat;
    this.#confirmedAtBeat = this.#confirmed;
    if (this.#wasFull)
      this.#size = Math.min(
        MAX_BYTES,
        Math.max(MIN_BYTES, carried * MAX_DELAY_BEATS),
      );
    this.#wasFull = this.room === 0;
  }
}
