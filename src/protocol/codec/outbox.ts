/** Collects the rows of one tick, so that operations issued together travel in as few frames as will do. */
import { packFrames, type Codec, type Encoded, type EncodedRow } from './codec.ts';

/** Rows that wait for the end of the tick. */
export class Outbox {
  readonly #codec: Codec;
  readonly #afterTick: (fn: () => void) => void;
  readonly #sendFrame: (frame: Encoded) => void;
  #rows: EncodedRow[] | undefined;
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
    // Mostly it is the only one: a list with room for more takes ten times the memory.
    if (this.#rows === undefined) this.#rows = [row];
    else this.#rows.push(row);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#afterTick(this.#flush);
  }

  /** Sends at once what was collected. */
  flush(): void {
    this.#scheduled = false;
    const rows = this.#rows;
    if (rows === undefined) return;
    this.#rows = undefined;
    for (const frame of packFrames(this.#codec, rows, this.frameBytesMax)) this.#sendFrame(frame);
  }

  /** Forgets what was collected. */
  clear(): void {
    this.#rows = undefined;
  }
}
