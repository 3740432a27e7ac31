/**
 * The messages that a client sends. They wait while too many bytes wait to be sent to the client.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  clientMessageKinds,
  type ClientMessage,
} from '../../../protocol/messages/client-messages.ts';
import type { Codec, EncodedData } from '../../../protocol/codec/codec.ts';
import { isSimpleSubmit, createMessageCheck } from '../../../protocol/messages/message-check.ts';
import { systemClock } from '../../../correctable/clock.ts';
import { compileSchema } from '../context/compile-schema.ts';
import { ReceivedFrame } from '../limits/in-flight-load.ts';

/**
 * Shorter frames are not split. A client answers each frame with one frame, so without a minimum,
 * frames would become shorter each time.
 */
const MIN_SPLIT_ROWS = 64;

const checkMessage = createMessageCheck(clientMessageKinds, {
  compile: compileSchema,
  isSimple: isSimpleSubmit,
});

/** Serves the messages of one connection. */
export interface MessageHandler {
  /** Whether the next message may be served now. If not, `resume` is called later. */
  readonly canRead: boolean;
  onMessage(message: ClientMessage, frame: ReceivedFrame): void;
  /**
   * Called when half of a large frame is handled. Its replies are sent then, so that the client can
   * work on them while the other half is handled.
   */
  onHalf(): void;
  /**
   * Called if a message could not be decoded. `id` is its operation, if that is known. Called once
   * if a whole frame could not be decoded.
   */
  onMalformed(id: number, error: unknown): void;
}

/** Decodes the frames of one connection and serves their messages in order. */
export class InboundQueue {
  readonly #codec: Codec;
  readonly #handler: MessageHandler;
  /**
   * The messages that could not be served yet. The next field has the frames that arrived after
   * them.
   */
  #messages: unknown[] = [];
  /** The frame whose messages are being served. */
  #frame = new ReceivedFrame(0);
  #frames: EncodedData[] = [];

  constructor(codec: Codec, server: MessageHandler) {
    this.#codec = codec;
    this.#handler = server;
  }

  get isWaiting(): boolean {
    return this.#messages.length > 0 || this.#frames.length > 0;
  }

  receive(frame: EncodedData): void {
    if (this.isWaiting) this.#frames.push(frame);
    else this.#read(frame);
  }

  /** Serves waiting messages, as long as the handler can read. */
  resume(): void {
    this.#frame.servedAt = systemClock.now();
    this.#handleAll(this.#messages);
    while (this.#messages.length === 0) {
      const frame = this.#frames.shift();
      if (frame === undefined) return;
      this.#read(frame);
    }
  }

  /** Drops waiting messages. */
  clear(): void {
    this.#messages = [];
    this.#frames = [];
  }

  #read(frame: EncodedData): void {
    let messages: unknown[];
    this.#frame = new ReceivedFrame(frame.length);
    try {
      messages = this.#codec.decode(frame);
    } catch (error) {
      return this.#handler.onMalformed(0, error);
    }
    return this.#handleAll(messages);
  }

  #handleAll(messages: unknown[]): void {
    this.#messages = [];
    const half = messages.length < MIN_SPLIT_ROWS ? -1 : messages.length >> 1;
    for (let at = 0; at < messages.length; at++) {
      if (at === half) this.#handler.onHalf();
      if (!this.#handler.canRead) {
        this.#messages = messages.slice(at);
        return;
      }
      this.#handleMessage(messages[at]);
    }
  }

  #handleMessage(message: unknown): void {
    const problem = checkMessage(message);
    if (problem === undefined)
      return this.#handler.onMessage(message as ClientMessage, this.#frame);
    const { id, field, reason } = problem;
    return this.#handler.onMalformed(
      id,
      new CorrectableError('PROTOCOL', `${field}: ${reason}`, { field }),
    );
  }
}
