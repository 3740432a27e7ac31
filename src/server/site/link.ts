/**
 * A one-way link between two sites in one process: first in, first out, each
 * message delayed by the same time. It holds so much and no more: what comes
 * beyond is dropped, as networks do, and what matters of it is sent again.
 */
import { Fifo } from '../collections/fifo.ts';

export interface LinkLimits {
  readonly maxMessages: number;
  /** Bytes of the messages whose length is passed to it. */
  readonly maxBytes: number;
}

/**
 * Far beyond what windows let sites send before they are answered: a site that
 * comes here is held up.
 */
export const LINK_LIMITS: LinkLimits = {
  maxMessages: 1 << 16,
  maxBytes: 1 << 28,
};

interface InFlightMessage<M> {
  readonly message: M;
  readonly bytes: number;
  readonly dueAtMs: number;
}

export interface LinkOptions<M> {
  readonly delayMs: number;
  readonly limits?: LinkLimits;
  deliver(messages: readonly M[]): void;
  /** Called for each message that is dropped. */
  onFull?: (() => void) | undefined;
}

/**
 * A link. Its timer exists only while messages are in flight, so that it keeps
 * no process alive for nothing.
 */
export class Link<M> {
  readonly #options: LinkOptions<M>;
  readonly #limits: LinkLimits;
  readonly #inFlight = new Fifo<InFlightMessage<M>>();
  #bytes = 0;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(options: LinkOptions<M>) {
    this.#options = options;
    this.#limits = options.limits ?? LINK_LIMITS;
  }

  /** @param bytes none of a message that is handed over as it is */
  send(message: M, bytes = 0): void {
    if (this.#isClosed) return;
    const { maxMessages, maxBytes } = this.#limits;
    const { size } = this.#inFlight;
    // One message goes, however large it is.
    if (size >= maxMessages || (size > 0 && this.#bytes + bytes > maxBytes)) {
      this.#options.onFull?.();
      return;
    }
    const { delayMs } = this.#options;
    this.#bytes += bytes;
    this.#inFlight.push({
      message,
      bytes,
      dueAtMs: performance.now() + delayMs,
    });
    if (this.#timer === undefined) this.#schedule(delayMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = undefined;
  }

  #schedule(delayMs: number): void {
    const fire = (): void => this.#fire();
    this.#timer =
      delayMs <= 0 ? setImmediate(fire) : setTimeout(fire, Math.ceil(delayMs));
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    const due: M[] = [];
    while ((this.#inFlight.at(0)?.dueAtMs ?? Infinity) <= nowMs) {
      const { message, bytes } = this.#inFlight.shift() as InFlightMessage<M>;
      this.#bytes -= bytes;
      due.push(message);
    }
    const next = this.#inFlight.at(0);
    // Scheduled before the messages are handled: what they send in turn comes
    // after what is in flight.
    if (next !== undefined) this.#schedule(next.dueAtMs - nowMs);
    if (due.length > 0) this.#options.deliver(due);
  }
}
