/** A one-way link between two sites in one process: first in, first out, each message delayed by the same time. */
import { Fifo } from '../collections/fifo.ts';

interface InFlight<M> {
  readonly message: M;
  readonly dueAtMs: number;
}

/** A link. Its timer exists only while messages are in flight, so that it keeps no process alive for nothing. */
export class Link<M> {
  readonly #delayMs: number;
  readonly #deliver: (messages: readonly M[]) => void;
  readonly #inFlight = new Fifo<InFlight<M>>();
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #closed = false;

  constructor(delayMs: number, deliver: (messages: readonly M[]) => void) {
    this.#delayMs = delayMs;
    this.#deliver = deliver;
  }

  send(message: M): void {
    if (this.#closed) return;
    this.#inFlight.push({ message, dueAtMs: performance.now() + this.#delayMs });
    if (this.#timer === undefined) this.#schedule(this.#delayMs);
  }

  close(): void {
    this.#closed = true;
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
    while ((this.#inFlight.at(0)?.dueAtMs ?? Infinity) <= nowMs)
      due.push((this.#inFlight.shift() as InFlight<M>).message);
    const next = this.#inFlight.at(0);
    // Scheduled before the messages are handled: what they send in turn comes after what is in flight.
    if (next !== undefined) this.#schedule(next.dueAtMs - nowMs);
    if (due.length > 0) this.#deliver(due);
  }
}
