/**
 * Which connections of a pool are still trusted. If one turns out to lead to a dead or a wrong
 * server, so may all that were made before: the name of the server may have moved since. They are
 * given up, and the name is looked up again.
 */
import { systemClock, type Clock } from '../../../correctable/clock.ts';

/** While a name leads to a wrong server, connections are renewed this often. */
const MIN_INTERVAL_MS = 250;

export class ConnectionTrust<C extends object> {
  readonly #clock: Clock;
  /** The generation of each connection, until it is closed. */
  readonly #generations = new Map<C, number>();
  #generation = 0;
  #renewedAtMs = -Infinity;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  noteOpened(connection: C): void {
    this.#generations.set(connection, this.#generation);
  }

  noteClosed(connection: C): void {
    this.#generations.delete(connection);
  }

  /** Gives up all connections that were made until now. */
  renew(): void {
    const nowMs = this.#clock.now();
    if (nowMs - this.#renewedAtMs < MIN_INTERVAL_MS) return;
    this.#renewedAtMs = nowMs;
    this.#generation += 1;
  }

  /** Returns whether a connection was made since the last renewal. */
  isTrusted(connection: C): boolean {
    return (this.#generations.get(connection) ?? 0) === this.#generation;
  }

  /** Whether a connection that is not trusted may still be open. */
  get hasUntrusted(): boolean {
    if (this.#generation === 0) return false;
    for (const generation of this.#generations.values())
      if (generation !== this.#generation) return true;
    return false;
  }

  get open(): Iterable<C> {
    return this.#generations.keys();
  }
}
