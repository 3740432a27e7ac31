/** How long a connection may stay in each of its states. */
import { setPeerDeadline } from '../protocol/peer-deadline.ts';
import type { ConnectionState } from './settings/connection-state.ts';
import type { ConnectionSettings } from './settings/options.ts';
import { patienceAfter, Silence } from './silence.ts';

const CLOSE_TIMEOUT_MS = 1_000;

/** What the timer needs to know of the present line. */
interface Awaiting {
  /** How many answers are awaited. */
  readonly awaited: number;
  /** How many bytes of large messages are not answered. */
  readonly awaitedBytes: number;
  /** As many bytes as one message may have. */
  readonly frameBytesMax: number;
}

const NOTHING: Awaiting = { awaited: 0, awaitedBytes: 0, frameBytesMax: 0 };

/** One timer, set anew in every state. In `open` it runs out when the server has been silent for too long. */
export class ConnectionTimer {
  readonly #settings: ConnectionSettings;
  readonly #awaiting: () => Awaiting;
  readonly #onElapsed: () => void;
  #silence: Silence;
  #cancel: (() => void) | undefined;
  #state: ConnectionState = 'closed';
  #patience = 1;

  constructor(settings: ConnectionSettings, line: () => Awaiting | undefined, onElapsed: () => void) {
    this.#settings = settings;
    this.#awaiting = () => line() ?? NOTHING;
    this.#onElapsed = onElapsed;
    this.#silence = new Silence(settings.heartbeatMs, this.#patience);
  }

  /** The server said something: an open connection may stay so for another while. */
  heard(): void {
    this.#silence.heard(this.#settings.scheduling.now());
  }

  /** A message of so many bytes is on its way, in which nothing else can be heard. */
  allowFor(bytes: number): void {
    this.#silence.allowFor(bytes);
  }

  /** An answer is awaited from now on; `isLarge` says whether that to a large message. */
  expectAnswer(isLarge: boolean): void {
    if (isLarge) this.#silence.sends(this.#awaiting().awaitedBytes, this.#settings.scheduling.now());
    // The clock is read for the first of many only: each operation comes here.
    if (this.#state !== 'open' || !this.#silence.ask()) return;
    this.#silence.begin(this.#settings.scheduling.now());
    this.#check();
  }

  /** The connection entered `state`; `backoffMs` is how long to stay in `waiting`. */
  arm(state: ConnectionState, backoffMs: number): void {
    const from = this.#state;
    this.#state = state;
    if (from === 'probing') this.#patience = patienceAfter(this.#patience, state === 'open');
    // Before it is open: what waited is submitted before that is told.
    if (state === 'greeting') this.#silence = new Silence(this.#settings.heartbeatMs, this.#patience);
    if (state === 'open') this.#listen(from);
    else if (state === 'waiting') this.#set(this.#onElapsed, backoffMs);
    else this.#setDeadline(this.#allowedMs(state));
  }

  #setDeadline(delayMs: number): void {
    this.#cancel?.();
    const { scheduling } = this.#settings;
    this.#cancel = delayMs === Infinity ? undefined : setPeerDeadline(scheduling, this.#onElapsed, delayMs);
  }

  #listen(from: ConnectionState): void {
    const nowMs = this.#settings.scheduling.now();
    if (from === 'probing') this.#silence.answered(nowMs);
    else this.#silence.begin(nowMs);
    this.#check();
    // Entered with operations that were submitted at once.
    if (from !== 'probing' && this.#awaiting().awaited > 0) this.expectAnswer(false);
  }

  #check(): void {
    const { awaited, awaitedBytes, frameBytesMax } = this.#awaiting();
    if (awaited === 0) this.#silence.relax();
    const leftMs = this.#silence.leftMs(this.#settings.scheduling.now(), awaitedBytes, frameBytesMax);
    // Looked at again after the limit: by then what was large may have come.
    if (leftMs > 0) this.#set(() => this.#check(), Math.min(leftMs, this.#silence.limitMs));
    else this.#onElapsed();
  }

  #set(fn: () => void, delayMs: number): void {
    this.#cancel?.();
    this.#cancel = delayMs === Infinity ? undefined : this.#settings.scheduling.setTimer(fn, delayMs);
  }

  #allowedMs(state: ConnectionState): number {
    const { connectTimeoutMs, pongTimeoutMs } = this.#settings;
    switch (state) {
      case 'connecting':
      case 'greeting':
        return connectTimeoutMs;
      case 'probing':
        return pongTimeoutMs * this.#patience;
      case 'closing':
        return CLOSE_TIMEOUT_MS;
      case 'open':
      case 'waiting':
      case 'closed':
        return Infinity;
    }
  }
}
