/**
 * Collects the rows of one tick, so that operations issued together travel in one frame. Of many rows a frame is sent
 * before the tick ends: the other end can begin while this one goes on.
 */
import { packFrames, ROWS_PER_FRAME_MAX, type Codec, type Encoded, type EncodedRow } from './codec.ts';

/** So few rows travel together whatever else is under way: a frame each would cost more than waiting for the tick. */
const ROWS_TOGETHER = 8;

/**
 * So many rows are sent in any case, once there are as many as a frame can have. Not as soon as there are so many: a few
 * that were left over would travel alone, be answered alone, and so go on for ever.
 */
const ROWS_FULL = 256;

/** Rows that wait for the end of the tick. */
export class Outbox {
  readonly #codec: Codec;
  readonly #afterTick: (fn: () => void) => void;
  readonly #sendFrame: (frame: Encoded) => void;
  #rows: EncodedRow[] = [];
  #scheduled = false;
  /** Largest frame to send, in bytes. */
  frameBytesMax: number = Infinity;

  constructor(codec: Codec, afterTick: (fn: () => void) => void, send: (frame: Encoded) => void) {
    this.#codec = codec;
    this.#afterTick = afterTick;
    this.#sendFrame = send;
  }

  /**
   * Takes a row for the frame of this tick.
   *
   * @param underWay how many operations wait for an answer, this one among them: half of them fill a frame. Otherwise,
   * with all of them in one frame, the two ends would take turns instead of working at the same time.
   */
  push(row: EncodedRow, underWay: number = Infinity): void {
    const count = this.#rows.push(row);
    if (count >= ROWS_PER_FRAME_MAX) this.#send(this.#rows.splice(0, ROWS_FULL));
    else if (underWay < 2 * ROWS_FULL && count >= Math.max(ROWS_TOGETHER, underWay / 2)) this.flush();
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
    this.#send(rows);
  }

  /** Forgets what was collected. */
  clear(): void {
    this.#rows = [];
  }

  #send(rows: readonly EncodedRow[]): void {
    for (const frame of packFrames(this.#codec, rows, this.frameBytesMax)) this.#sendFrame(frame);
  }
}
