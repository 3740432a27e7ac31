/**
 * How long a server may be silent before it is asked whether it is there: while nothing is awaited, as long as the
 * heartbeat; while operations wait for their answers, a fifth of that, so that a site that has fallen silent is left long
 * before they give up. An operation that just takes long costs few pings: the time doubles with each one answered.
 */
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
