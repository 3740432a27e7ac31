/** How long a connection may stay in each of its states. */
import type { ConnectionState } from './connection-state.ts';
import type { ConnectionSettings } from './options.ts';
import { ANNOUNCED_BYTES_MIN } from '../protocol/incoming.ts';
import { patienceAfter, Silence } from './silence.ts';

const CLOSE_TIMEOUT_MS = 1_000;

/** One timer, set anew in every state. In `open` it runs out when the server has been silent for too long. */
export class ConnectionTimer {
  readonly #settings: ConnectionSettings;
  readonly #isAwaiting: () => boolean;
  readonly #onElapsed: () => void;
  #silence: Silence;
  #cancel: (() => void) | undefined;
  #state: ConnectionState = 'closed';
  #patience = 1;

  /** `isAwaiting` says whether an answer is awaited. */
  constructor(settings: ConnectionSettings, isAwaiting: () => boolean, onElapsed: () => void) {
    this.#settings = settings;
    this.#isAwaiting = isAwaiting;
    this.#onElapsed = onElapsed;
    this.#silence = new Silence(settings.heartbeatMs, this.#patience);
  }

  /** The server said something: an open connection may stay so for another while. */
  heard(): void {
    this.#silence.heard(this.#settings.scheduling.now());
  }

  /** A message of so many bytes is on its way, in which nothing else can be heard. */
  allowFor(bytes: number): void {
    this.#silence.allowFor(bytes, this.#patience);
  }

  /** An answer to a message of so many bytes is awaited from now on. */
  expectAnswer(bytes: number): void {
    if (bytes >= ANNOUNCED_BYTES_MIN) this.allowFor(bytes);
    if (!this.#silence.isShortened || this.#state !== 'open') return;
    this.#silence.shorten(this.#settings.scheduling.now());
    this.#set(() => this.#check(), this.#leftMs());
  }

  /** The connection entered `state`; `backoffMs` is how long to stay in `waiting`. */
  arm(state: ConnectionState, backoffMs: number): void {
    const from = this.#state;
    this.#state = state;
    if (from === 'probing') this.#patience = patienceAfter(this.#patience, state === 'open');
    // Before it is open: what waited is submitted before that is told.
    if (state === 'greeting') this.#silence = new Silence(this.#settings.heartbeatMs, this.#patience);
    if (state === 'open') this.#listen(from);
    else this.#set(this.#onElapsed, this.#allowedMs(state, backoffMs));
  }

  #listen(from: ConnectionState): void {
    const nowMs = this.#settings.scheduling.now();
    if (from === 'probing') this.#silence.answered(nowMs);
    else this.#silence.begin(nowMs);
    this.#set(() => this.#check(), this.#leftMs());
    // Entered with operations that were submitted at once.
    if (from !== 'probing' && this.#isAwaiting()) this.expectAnswer(0);
  }

  #check(): void {
    if (!this.#isAwaiting()) this.#silence.relax();
    const leftMs = this.#leftMs();
    if (leftMs > 0) this.#set(() => this.#check(), leftMs);
    else this.#onElapsed();
  }

  #leftMs(): number {
    return this.#silence.leftMs(this.#settings.scheduling.now());
  }

  #set(fn: () => void, delayMs: number): void {
    this.#cancel?.();
    this.#cancel = delayMs === Infinity ? undefined : this.#settings.scheduling.setTimer(fn, delayMs);
  }

  #allowedMs(state: ConnectionState, backoffMs: number): number {
    const { connectTimeoutMs, pongTimeoutMs } = this.#settings;
    switch (state) {
      case 'connecting':
      case 'greeting':
        return connectTimeoutMs;
      case 'probing':
        return pongTimeoutMs * this.#patience;
      case 'waiting':
        return backoffMs;
      case 'closing':
        return CLOSE_TIMEOUT_MS;
      case 'open':
      case 'closed':
        return Infinity;
    }
  }
}
