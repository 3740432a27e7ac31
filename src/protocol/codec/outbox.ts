/** Collects the rows of one tick, so that operations issued together travel in as few frames as will do. */
import { packFrames, type Codec, type Encoded, type EncodedRow } from './codec.ts';

/** Rows that wait for the end of the tick. */
export class Outbox {
  readonly #codec: Codec;
  readonly #afterTick: (fn: () => void) => void;
  readonly #sendFrame: (frame: Encoded) => void;
  #rows: EncodedRow[] = [];
  #scheduled = false;
  readonly #flush = (): void => this.flush();
  /** Largest frame to send, in bytes. */
  frameBytesMax: number = Infinity;

  constructor(codec: Codec, afterTick: (fn: () => void) => void, send: (frame: Encoded) => void) {
    this.#codec = codec;
    this.#afterTick = afterTick;
    this.#sendFrame = send;
  }

  /** Takes a row for the frame of this tick. */
  push(row: EncodedRow): void {
    this.#rows.push(row);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#afterTick(this.#flush);
  }

  /** Sends at once what was collected. */
  flush(): void {
    this.#scheduled = false;
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    for (const frame of packFrames(this.#codec, rows, this.frameBytesMax)) this.#sendFrame(frame);
  }

  /** Forgets what was collected. */
  clear(): void {
    this.#rows = [];
  }
}
