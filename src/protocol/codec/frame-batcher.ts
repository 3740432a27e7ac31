/**
 * Collects the rows of one tick, so that operations issued together travel in
 * as few frames as will do.
 */
import {
  packFrames,
  type Codec,
  type EncodedData,
  type EncodedMessage,
} from './codec.ts';

/** Rows that wait for the end of the tick. */
export class FrameBatcher {
  readonly #codec: Codec;
  readonly #afterTick: (fn: () => void) => void;
  readonly #sendFrame: (frame: EncodedData) => void;
  #messages: EncodedMessage[] | undefined;
  #isScheduled = false;
  readonly #flushBound = (): void => this.flush();
  /** Largest frame to send, in bytes. */
  maxFrameBytes: number = Infinity;

  constructor(
    codec: Codec,
    afterTick: (fn: () => void) => void,
    send: (frame: EncodedData) => void,
  ) {
    this.#codec = codec;
    this.#afterTick = afterTick;
    this.#sendFrame = send;
  }

  push(row: EncodedMessage): void {
    // Mostly it is the only one: a list with room for more takes ten times the
    // memory.
    if (this.#messages === undefined) this.#messages = [row];
    else this.#messages.push(row);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#afterTick(this.#flushBound);
  }

  flush(): void {
    this.#isScheduled = false;
    const rows = this.#messages;
    if (rows === undefined) return;
    this.#messages = undefined;
    for (const frame of packFrames(this.#codec, rows, this.maxFrameBytes))
      this.#sendFrame(frame);
  }

  clear(): void {
    this.#messages = undefined;
  }
}
