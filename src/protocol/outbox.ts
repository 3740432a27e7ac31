/**
 * Collects the rows of one tick, so that operations issued together travel in one frame. A frame that is full is sent at
 * once: the other end can begin while this one goes on.
 */
import { packFrames, ROWS_PER_FRAME_MAX, type Codec, type Encoded } from './codec.ts';

/** So few rows travel together whatever else is under way: a frame each would cost more than waiting for the tick. */
const ROWS_TOGETHER = 8;

/** Rows that wait for the end of the tick. */
export class Outbox {
  readonly #codec: Codec;
  readonly #afterTick: (fn: () => void) => void;
  readonly #send: (frame: Encoded) => void;
  #rows: Encoded[] = [];
  #scheduled = false;
  /** Largest frame to send, in bytes. */
  frameBytesMax: number = Infinity;

  constructor(codec: Codec, afterTick: (fn: () => void) => void, send: (frame: Encoded) => void) {
    this.#codec = codec;
    this.#afterTick = afterTick;
    this.#send = send;
  }

  /**
   * Takes a row for the frame of this tick.
   *
   * @param underWay how many operations wait for an answer, this one among them: half of them fill a frame. Otherwise,
   * with all of them in one frame, the two ends would take turns instead of working at the same time.
   */
  push(row: Encoded, underWay: number = Infinity): void {
    const full = Math.min(ROWS_PER_FRAME_MAX, Math.max(ROWS_TOGETHER, underWay / 2));
    if (this.#rows.push(row) >= full) this.flush();
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#afterTick(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Sends at once what was collected. */
  flush(): void {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    for (const frame of packFrames(this.#codec, rows, this.frameBytesMax)) this.#send(frame);
  }

  /** Forgets what was collected. */
  clear(): void {
    this.#rows = [];
  }
}
