/**
 * Collects the messages of one tick, so that operations that were issued together travel in few
 * frames.
 */
import { packFrames, type Codec, type EncodedData, type EncodedMessage } from './codec.ts';

/** Messages that wait for the end of the tick. */
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

  push(message: EncodedMessage): void {
    // Mostly it is the only message. An array with room for more takes ten times the memory.
    if (this.#messages === undefined) this.#messages = [message];
    else this.#messages.push(message);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#afterTick(this.#flushBound);
  }

  flush(): void {
    this.#isScheduled = false;
    const messages = this.#messages;
    if (messages === undefined) return;
    this.#messages = undefined;
    for (const frame of packFrames(this.#codec, messages, this.maxFrameBytes))
      this.#sendFrame(frame);
  }

  clear(): void {
    this.#messages = undefined;
  }
}
