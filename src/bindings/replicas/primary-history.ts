/**
 * When the primary was at which position, to tell how far a replica is behind.
 *
 * A replica that has reached the position of an earlier answer of the primary shows everything that
 * was written before that request was sent. So the age of the request bounds the lag. This needs no
 * clock of another machine, and it holds while no client writes.
 */

interface Entry<Position> {
  readonly sentAtMs: number;
  readonly position: Position;
}

/** The lag is this much too high, at most. */
const MIN_INTERVAL_MS = 20;
const MAX_ENTRIES = 256;

export class PrimaryHistory<Position> {
  readonly #reached: (have: Position, need: Position) => boolean;
  /** The oldest first. */
  #entries: Entry<Position>[] = [];

  constructor(reached: (have: Position, need: Position) => boolean) {
    this.#reached = reached;
  }

  /** When the request was sent whose position is the newest; -Infinity: none. */
  get newestAtMs(): number {
    return this.#entries.at(-1)?.sentAtMs ?? -Infinity;
  }

  /** Notes that the primary was at `position` after a request was sent. */
  note(sentAtMs: number, position: Position): void {
    if (sentAtMs < this.newestAtMs + MIN_INTERVAL_MS) return;
    this.#entries.push({ sentAtMs, position });
    if (this.#entries.length > MAX_ENTRIES) this.#thinOut();
  }

  /**
   * Returns how far a replica at `position` is behind the primary at most, in milliseconds.
   * `undefined` if it is further behind than is known.
   */
  getLagMs(position: Position, nowMs: number): number | undefined {
    const entry = this.#entries.findLast((item) => this.#reached(position, item.position));
    return entry === undefined ? undefined : nowMs - entry.sentAtMs;
  }

  /** Of what is older, every other entry stays: a long lag needs no precision. */
  #thinOut(): void {
    const half = MAX_ENTRIES / 2;
    this.#entries = this.#entries.filter((_, index) => index >= half || index % 2 === 0);
  }
}
