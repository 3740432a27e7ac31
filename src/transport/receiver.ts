/** What a server's rows lead to: answers go to the operations that wait for them on that line, the rest to the connection. */
import { CorrectableError } from '../correctable/errors.ts';
import type { Codec, Encoded } from '../protocol/codec/codec.ts';
import { BODY, KIND, NUMBER } from '../protocol/rows/define-row.ts';
import type { FailRow } from '../protocol/rows/fail.ts';
import { serverKinds, type ServerRow } from '../protocol/rows/server-kinds.ts';
import type { Welcome } from '../protocol/rows/welcome.ts';
import { errorOf } from '../protocol/wire-errors.ts';
import type { InFlight } from './operations/in-flight.ts';
import type { Line } from './line/line.ts';
import { createRowCheck } from '../protocol/rows/row-check.ts';
import { isPlainView } from '../protocol/rows/plain-rows.ts';
import { reportUncaught } from './settings/callbacks.ts';

/** Malformed rows of a server before its line is given up. */
const MALFORMED_MAX = 8;

const checkRow = createRowCheck(serverKinds, { isPlain: isPlainView });

/** What concerns a line as a whole. */
export interface ReceiverEvents {
  welcome(line: Line, welcome: Welcome): void;
  renewed(line: Line, expiresInMs: number | undefined): void;
  goaway(line: Line, drainMs: number): void;
  /** A frame of so many bytes follows. */
  incoming(line: Line, bytes: number): void;
  /** The server sends nothing but nonsense. */
  spoiled(line: Line, error: CorrectableError): void;
}

/** Reads the frames of all lines of a client. */
export class Receiver {
  readonly #codec: Codec;
  readonly #inFlight: InFlight;
  readonly #events: ReceiverEvents;

  constructor(codec: Codec, inFlight: InFlight, events: ReceiverEvents) {
    this.#codec = codec;
    this.#inFlight = inFlight;
    this.#events = events;
  }

  /** Acts on the rows of a frame, in order. What one row leads to, however it ends, keeps no other from it. */
  receive(line: Line, frame: Encoded): void {
    let rows: unknown[];
    try {
      rows = this.#codec.decode(frame);
    } catch (error) {
      return this.#malformed(0, `the server sent a malformed frame: ${(error as Error).message}`, line);
    }
    for (const received of rows) {
      try {
        this.#read(received, line);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }

  #read(received: unknown, line: Line): void {
    const problem = checkRow(received);
    if (problem === undefined) return this.#row(received as ServerRow, line);
    this.#malformed(problem.id, `the server sent a malformed row: ${problem.field}: ${problem.reason}`, line);
  }

  #row(row: ServerRow, line: Line): void {
    switch (row[KIND]) {
      case 'view':
      case 'final':
        return this.#inFlight.view(row, line);
      case 'confirm':
        return this.#inFlight.confirm(row, line);
      case 'fail':
        return this.#fail(row, line);
      case 'welcome':
        if (line.welcome === undefined) return this.#events.welcome(line, row[BODY]);
        return this.#malformed(0, 'the server welcomed the client twice', line);
      case 'renewed':
        return this.#events.renewed(line, row[BODY] ?? undefined);
      case 'goaway':
        return this.#events.goaway(line, row[BODY]);
      case 'incoming':
        return this.#events.incoming(line, row[NUMBER]);
      case 'ping':
        return line.push([row[NUMBER], 'pong']);
      case 'pong':
        return undefined;
    }
  }

  /** A row that is none; `id` is the operation that it seems to be about, or 0. */
  #malformed(id: number, message: string, line: Line): void {
    const error = new CorrectableError('PROTOCOL', message);
    this.#inFlight.spoiled(id, error, line);
    if (++line.malformed >= MALFORMED_MAX) this.#events.spoiled(line, error);
  }

  #fail(row: FailRow, line: Line): void {
    if (row[NUMBER] > 0) this.#inFlight.fail(row, line);
    else line.explanation = errorOf(row);
  }
}
