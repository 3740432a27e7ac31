/**
 * The rows that a client sends, one after the other, as fast as they may be served: while far too much waits for the
 * client, the rest of what it has sent waits as well.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { clientKinds, type ClientRow } from '../../../protocol/rows/client-kinds.ts';
import type { Codec, Encoded } from '../../../protocol/codec/codec.ts';
import { isPlainSubmit } from '../../../protocol/rows/plain-rows.ts';
import { createRowCheck } from '../../../protocol/rows/row-check.ts';
import { systemClock } from '../../../correctable/clock.ts';
import { compileSchema } from '../host/compile-schema.ts';
import { ReceivedFrame } from '../limits/load.ts';

const checkRow = createRowCheck(clientKinds, { compile: compileSchema, isPlain: isPlainSubmit });

/** Who serves the rows. */
export interface RowServer {
  /** Whether the next row may be served now; if not, `resume` follows. */
  readonly mayRead: boolean;
  row(row: ClientRow, frame: ReceivedFrame): void;
  /** A row, of the operation `id` if that can be told, or a whole frame is none. */
  malformed(id: number, error: unknown): void;
}

/** The way in of one connection. */
export class Inbox {
  readonly #codec: Codec;
  readonly #server: RowServer;
  /** What could not be served yet: rows, and frames that came after them. */
  #rows: unknown[] = [];
  /** The one whose rows are being served. */
  #frame = new ReceivedFrame(0);
  #frames: Encoded[] = [];

  constructor(codec: Codec, server: RowServer) {
    this.#codec = codec;
    this.#server = server;
  }

  get isWaiting(): boolean {
    return this.#rows.length > 0 || this.#frames.length > 0;
  }

  receive(frame: Encoded): void {
    if (this.isWaiting) this.#frames.push(frame);
    else this.#read(frame);
  }

  /** Goes on with what waits, as far as that may be. */
  resume(): void {
    this.#frame.servedAt = systemClock.now();
    this.#serve(this.#rows);
    while (this.#rows.length === 0) {
      const frame = this.#frames.shift();
      if (frame === undefined) return;
      this.#read(frame);
    }
  }

  /** Forgets what waits. */
  clear(): void {
    this.#rows = [];
    this.#frames = [];
  }

  #read(frame: Encoded): void {
    let rows: unknown[];
    this.#frame = new ReceivedFrame(frame.length);
    try {
      rows = this.#codec.decode(frame);
    } catch (error) {
      return this.#server.malformed(0, error);
    }
    return this.#serve(rows);
  }

  #serve(rows: unknown[]): void {
    this.#rows = [];
    for (let at = 0; at < rows.length; at++) {
      if (!this.#server.mayRead) {
        this.#rows = rows.slice(at);
        return;
      }
      this.#serveRow(rows[at]);
    }
  }

  #serveRow(row: unknown): void {
    const problem = checkRow(row);
    if (problem === undefined) return this.#server.row(row as ClientRow, this.#frame);
    const { id, field, reason } = problem;
    return this.#server.malformed(id, new CorrectableError('PROTOCOL', `${field}: ${reason}`, { field }));
  }
}
