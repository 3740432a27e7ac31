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
  /** When those of the client have been taken, even by a slow link. */
  #takenAt = 0;

  constructor(heartbeatMs: number, patience: number) {
    this.#heartbeatMs = heartbeatMs;
    this.#awaitedMs = Math.min(heartbeatMs, (heartbeatMs / SHARE_WHEN_AWAITED) * patience);
    this.#byteMs = (1000 / SLOW_LINK_BYTES) * patience;
    this.#limitMs = heartbeatMs;
  }

  /** Nothing can have been said before now. */
  begin(nowMs: number): void {
    this.#since = nowMs;
  }

  /** The server said something. */
  heard(nowMs: number): void {
    this.#since = nowMs;
    this.#allowanceMs = 0;
  }

  /** A message of so many bytes is on its way from the server: nothing else can be heard meanwhile. */
  allowFor(bytes: number): void {
    this.#allowanceMs += bytes * this.#byteMs;
  }

  /** So many bytes of large messages are on their way to the server, which answers none before it has come. */
  sends(bytes: number, nowMs: number): void {
    this.#takenAt = nowMs + bytes * this.#byteMs;
  }

  /** The server answered when it was asked. */
  answered(nowMs: number): void {
    this.#since = nowMs;
    this.#limitMs = Math.min(2 * this.#limitMs, this.#heartbeatMs);
  }

  /** Nothing is awaited. */
  relax(): void {
    this.#limitMs = this.#heartbeatMs;
  }

  /** Whether an answer that is awaited from now on makes the time shorter. */
  get isShortened(): boolean {
    return this.#limitMs > this.#awaitedMs;
  }

  /** An answer is awaited from now on. */
  shorten(nowMs: number): void {
    this.#limitMs = this.#awaitedMs;
    this.#since = nowMs;
  }

  /** How long it may still last, where so many bytes of large messages are not answered. */
  leftMs(nowMs: number, bytes: number): number {
    const uploadMs = Math.max(0, Math.min(this.#takenAt - this.#since, bytes * this.#byteMs));
    return this.#limitMs + this.#allowanceMs + uploadMs - (nowMs - this.#since);
  }

  /** How long it may last where nothing large is on its way. */
  get limitMs(): number {
    return this.#limitMs;
  }
}
