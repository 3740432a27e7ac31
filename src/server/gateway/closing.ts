/**
 * The end of a gateway: its clients are told, what is under way gets its time, then the connections are closed, and cut
 * where that is not enough. It happens once, however often it is asked for, and the shortest time counts.
 */
import { systemClock, type Timer } from '../../correctable/clock.ts';
import { invalidArgument } from '../../correctable/errors.ts';
import { CloseCode } from '../../protocol/close-codes.ts';

/** How long closed connections may take to go, and cut ones to tell that they have gone. */
const CLOSE_GRACE_MS = 1_000;

/** Clients are told no longer time than this, some 12 days: they wait a little longer, and timers end at twice as much. */
const GOAWAY_MS_MAX = 2 ** 30;

/** What is to be closed. */
export interface Closable {
  drain(drainMs: number): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** Throws `INVALID_ARGUMENT` for what is no time to drain. */
export function checkDrainMs(drainMs: unknown): void {
  if (typeof drainMs === 'number' && drainMs >= 0) return;
  throw invalidArgument('drainMs', `give milliseconds from 0 on, or Infinity, not ${String(drainMs)}`);
}

/** A closing that has begun. */
export class Closing {
  /** Fulfilled when all connections have gone, or nothing more can be done about them. */
  readonly done: Promise<void>;
  readonly #connections: ReadonlySet<Closable>;
  /** Until when what is under way may end; `undefined` once that is over. */
  #drainsUntil: number | undefined;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  /** @param connections those that are there, each as long as it is */
  constructor(connections: ReadonlySet<Closable>, drainMs: number) {
    this.#connections = connections;
    this.#drainsUntil = systemClock.now() + drainMs;
    this.done = this.#run(drainMs);
  }

  /** It is asked for again: in less time perhaps. */
  hurry(drainMs: number): void {
    const until = systemClock.now() + drainMs;
    if (this.#drainsUntil === undefined || until >= this.#drainsUntil) return;
    this.#drainsUntil = until;
    this.#wakeIn(drainMs);
  }

  /** The last connection has gone. */
  emptied(): void {
    this.#wake?.();
  }

  async #run(drainMs: number): Promise<void> {
    const toldMs = Math.min(Math.ceil(drainMs), GOAWAY_MS_MAX);
    for (const connection of this.#connections) connection.drain(toldMs);
    await this.#empty(drainMs);
    this.#drainsUntil = undefined;
    for (const connection of this.#connections) connection.close(CloseCode.goingAway, 'the server is shutting down');
    await this.#empty(CLOSE_GRACE_MS);
    for (const connection of this.#connections) connection.terminate();
    // A socket that was cut tells so in its own time.
    await this.#empty(CLOSE_GRACE_MS);
  }

  /** Waits until the last connection has gone, but not longer than `withinMs`. */
  async #empty(withinMs: number): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#wakeIn(withinMs);
    });
    this.#timer?.cancel();
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = systemClock.setTimer(() => this.#wake?.(), delayMs);
  }
}
