/** How long a connection may stay in each of its states. */
import { setPeerDeadline } from '../protocol/peer-deadline.ts';
import type { ConnectionState } from './settings/connection-state.ts';
import type { ConnectionSettings } from './settings/options.ts';

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

const SHARE_WHEN_AWAITED = 5;

/**
 * How much longer than that a server is waited for at most. A large answer on a slow link is told only once all of it has
 * come, and nothing passes it on the way: with the same patience each time it would be cut off and asked for again without
 * end.
 */
const PATIENCE_MAX = 8;

/** The patience for the next line, after a server did or did not answer when it was asked. */
export function patienceAfter(patience: number, wasAnswered: boolean): number {
  return wasAnswered ? Math.max(1, patience / 2) : Math.min(PATIENCE_MAX, patience * 2);
}

/** The slowest link for which a large message is allowed its time at once, in bytes a second. */
const SLOW_LINK_BYTES = 1 << 15;

/** The silence on the present line. */
export class Silence {
  readonly #heartbeatMs: number;
  readonly #awaitedMs: number;
  /** What a byte of a large message may take. */
  readonly #byteMs: number;
  #limitMs: number;
  #since = 0;
  /** For large messages of the server that are on their way. */
  #allowanceMs = 0;
  /** When those of the client have been taken, even by a slow link, and how many bytes those were. */
  #takenAt = 0;
  #sentBytes = 0;
  /** Whether an answer was asked for since the server was last heard. Who asked may have given up meanwhile. */
  #isAsked = false;

  constructor(heartbeatMs: number, patience: number) {
    this.#heartbeatMs = heartbeatMs;
    this.#awaitedMs = Math.min(heartbeatMs, (heartbeatMs / SHARE_WHEN_AWAITED) * patience);
    this.#byteMs = (1000 / SLOW_LINK_BYTES) * patience;
    this.#limitMs = heartbeatMs;
  }

  /** What was said before now does not count. */
  begin(nowMs: number): void {
    this.#since = nowMs;
  }

  /** The server said something. */
  heard(nowMs: number): void {
    this.#since = nowMs;
    this.#allowanceMs = 0;
    this.#sentBytes = 0;
    this.#isAsked = false;
  }

  /** A message of so many bytes is on its way from the server: nothing else can be heard meanwhile. */
  allowFor(bytes: number): void {
    this.#allowanceMs += bytes * this.#byteMs;
  }

  /** So many bytes of large messages are on their way to the server, which answers none before it has come. */
  sends(bytes: number, nowMs: number): void {
    this.#takenAt = nowMs + bytes * this.#byteMs;
    this.#sentBytes = bytes;
  }

  /** The server answered when it was asked. */
  answered(nowMs: number): void {
    this.#since = nowMs;
    this.#sentBytes = 0;
    this.#isAsked = false;
    this.#limitMs = Math.min(2 * this.#limitMs, this.#heartbeatMs);
  }

  /** Nothing is awaited. What was asked for and given up does not make the silence a better one. */
  relax(): void {
    if (!this.#isAsked) this.#limitMs = this.#heartbeatMs;
  }

  /** An answer is awaited from now on; returns whether that makes the time shorter: it is to `begin` then. */
  ask(): boolean {
    this.#isAsked = true;
    if (this.#limitMs <= this.#awaitedMs) return false;
    this.#limitMs = this.#awaitedMs;
    return true;
  }

  /**
   * How long it may still last, where so many bytes of large messages are not answered. Of more than one message may have,
   * some must be answered meanwhile.
   */
  leftMs(nowMs: number, bytes: number, bytesMax: number): number {
    // Also what was given up is on its way.
    const uploadBytes = Math.min(bytesMax, Math.max(bytes, this.#sentBytes));
    const uploadMs = Math.max(0, Math.min(this.#takenAt - this.#since, uploadBytes * this.#byteMs));
    return this.#limitMs + this.#allowanceMs + uploadMs - (nowMs - this.#since);
  }

  /** How long it may last where nothing large is on its way. */
  get limitMs(): number {
    return this.#limitMs;
  }
}
