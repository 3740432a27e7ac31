/**
 * A one-way link between two sites in one process. Messages arrive in order, each after the same
 * delay. The link holds a limited amount. Messages beyond that are dropped, as in a network, and
 * are sent again if they matter.
 */
import { Fifo } from '../../service/collections/fifo.ts';

export interface LinkLimits {
  readonly maxMessages: number;
  /** The bytes of the messages whose length is passed to the link. */
  readonly maxBytes: number;
}

/**
 * Far more than windows let sites send before they get an answer. A link gets this full only if the
 * receiver is held up.
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
 * A link. Its timer exists only while messages are in flight, so that it does not keep the process
 * alive.
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

  /** @param bytes `undefined` for a message that is passed without a copy */
  send(message: M, bytes = 0): void {
    if (this.#isClosed) return;
    const { maxMessages, maxBytes } = this.#limits;
    const { size } = this.#inFlight;
    // A single message passes, however large it is.
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
    this.#timer = delayMs <= 0 ? setImmediate(fire) : setTimeout(fire, Math.ceil(delayMs));
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
    // The timer is set before the messages are handled, because messages that these send come after
    // those in flight.
    if (next !== undefined) this.#schedule(next.dueAtMs - nowMs);
    if (due.length > 0) this.#options.deliver(due);
  }
}
