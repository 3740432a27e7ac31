/** How long a connection may stay in each of its states. */
import type { ConnectionState } from './connection-state.ts';
import type { ConnectionSettings } from './options.ts';

const CLOSE_TIMEOUT_MS = 1_000;

/** One timer, set anew in every state. */
export class ConnectionTimer {
  readonly #settings: ConnectionSettings;
  readonly #onElapsed: () => void;
  #cancel: (() => void) | undefined;
  #heard = false;
  /** How long the server takes to drain, as it said. */
  drainMs = 0;

  constructor(settings: ConnectionSettings, onElapsed: () => void) {
    this.#settings = settings;
    this.#onElapsed = onElapsed;
  }

  /** The server said something: an open connection may stay so for another while. */
  heard(): void {
    this.#heard = true;
  }

  /** The connection entered `state`; `backoffMs` is how long to stay in `waiting`. */
  arm(state: ConnectionState, backoffMs: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#heard = false;
    const allowedMs = this.#allowedMs(state, backoffMs);
    if (allowedMs === undefined) return;
    this.#cancel = this.#settings.scheduling.setTimer(() => {
      // Set anew once a while, not for every frame that arrives.
      if (state === 'open' && this.#heard) this.arm(state, backoffMs);
      else this.#onElapsed();
    }, allowedMs);
  }

  #allowedMs(state: ConnectionState, backoffMs: number): number | undefined {
    const { connectTimeoutMs, heartbeatMs, pongTimeoutMs } = this.#settings;
    switch (state) {
      case 'connecting':
      case 'greeting':
        return connectTimeoutMs;
      case 'open':
        return heartbeatMs;
      case 'probing':
        return pongTimeoutMs;
      case 'draining':
        return this.drainMs + pongTimeoutMs;
      case 'waiting':
        return backoffMs;
      case 'closing':
        return CLOSE_TIMEOUT_MS;
      case 'closed':
        return undefined;
    }
  }
}
