/**
 * The rows that a client sends. They wait while far too much waits to be sent
 * to it.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  clientMessageKinds,
  type ClientMessage,
} from '../../../protocol/messages/client-messages.ts';
import type { Codec, EncodedData } from '../../../protocol/codec/codec.ts';
import { isSimpleSubmit } from '../../../protocol/messages/fast-path.ts';
import { createMessageCheck } from '../../../protocol/messages/message-check.ts';
import { systemClock } from '../../../correctable/clock.ts';
import { compileSchema } from '../context/compile-schema.ts';
import { ReceivedFrame } from '../limits/in-flight-load.ts';

/**
 * Shorter frames are not split. A client sends one frame for each that it gets,
 * so frames would get shorter each time.
 */
const MIN_SPLIT_ROWS = 64;

const checkMessage = createMessageCheck(clientMessageKinds, {
  compile: compileSchema,
  isSimple: isSimpleSubmit,
});

/** Serves the rows. */
export interface MessageHandler {
  /** Whether the next row may be served now; if not, `resume` follows. */
  readonly canRead: boolean;
  onMessage(row: ClientMessage, frame: ReceivedFrame): void;
  /**
   * Half of a large frame is handled: its replies can leave now, so that the
   * client works while the rest is handled.
   */
  onHalf(): void;
  /**
   * A row, of the operation `id` if that can be known, or a whole frame is
   * none.
   */
  onMalformed(id: number, error: unknown): void;
}

/** The way in of one connection. */
export class InboundQueue {
  readonly #codec: Codec;
  readonly #handler: MessageHandler;
  /** What could not be served yet: rows, and frames that came after them. */
  #messages: unknown[] = [];
  /** The one whose rows are being served. */
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

  /** Goes on with what waits, as far as that may be. */
  resume(): void {
    this.#frame.servedAt = systemClock.now();
    this.#handleAll(this.#messages);
    while (this.#messages.length === 0) {
      const frame = this.#frames.shift();
      if (frame === undefined) return;
      this.#read(frame);
    }
  }

  /** Forgets what waits. */
  clear(): void {
    this.#messages = [];
    this.#frames = [];
  }

  #read(frame: EncodedData): void {
    let rows: unknown[];
    this.#frame = new ReceivedFrame(frame.length);
    try {
      rows = this.#codec.decode(frame);
    } catch (error) {
      return this.#handler.onMalformed(0, error);
    }
    return this.#handleAll(rows);
  }

  #handleAll(rows: unknown[]): void {
    this.#messages = [];
    const half = rows.length < MIN_SPLIT_ROWS ? -1 : rows.length >> 1;
    for (let at = 0; at < rows.length; at++) {
      if (at === half) this.#handler.onHalf();
      if (!this.#handler.canRead) {
        this.#messages = rows.slice(at);
        return;
      }
      this.#handleMessage(rows[at]);
    }
  }

  #handleMessage(row: unknown): void {
    const problem = checkMessage(row);
    if (problem === undefined)
      return this.#handler.onMessage(row as ClientMessage, this.#frame);
    const { id, field, reason } = problem;
    return this.#handler.onMalformed(
      id,
      new CorrectableError('PROTOCOL', `${field}: ${reason}`, { field }),
    );
  }
}
