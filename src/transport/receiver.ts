/**
 * What a server's rows lead to: answers go to the operations that wait for them
 * on that line, the rest to the connection.
 */
import { CorrectableError } from '../correctable/errors.ts';
import type { Codec, EncodedData } from '../protocol/codec/codec.ts';
import {
  BODY_AT,
  KIND_AT,
  NUMBER_AT,
} from '../protocol/messages/define-message.ts';
import type { FailMessage } from '../protocol/messages/fail.ts';
import {
  serverMessageKinds,
  type ServerMessage,
} from '../protocol/messages/server-messages.ts';
import type { Welcome } from '../protocol/messages/welcome.ts';
import { fromFailMessage } from '../protocol/errors.ts';
import type { InFlightOperations } from './operations/in-flight-operations.ts';
import type { Connection } from './connection/connection.ts';
import { createMessageCheck } from '../protocol/messages/message-check.ts';
import { isSimpleView } from '../protocol/messages/fast-path.ts';
import { reportUncaught } from './options/guard-callbacks.ts';

/** Malformed rows of a server before its line is given up. */
const MAX_MALFORMED_MESSAGES = 8;

const checkMessage = createMessageCheck(serverMessageKinds, {
  isSimple: isSimpleView,
});

export interface ReceiverEvents {
  onWelcome(line: Connection, welcome: Welcome): void;
  onRenewed(line: Connection, expiresInMs: number | undefined): void;
  onGoaway(line: Connection, drainMs: number): void;
  /** A frame of so many bytes follows. */
  onIncoming(line: Connection, bytes: number): void;
  /** The server sends nothing but nonsense. */
  onMalformed(line: Connection, error: CorrectableError): void;
}

export class Receiver {
  readonly #codec: Codec;
  readonly #inFlight: InFlightOperations;
  readonly #events: ReceiverEvents;

  constructor(
    codec: Codec,
    inFlight: InFlightOperations,
    events: ReceiverEvents,
  ) {
    this.#codec = codec;
    this.#inFlight = inFlight;
    this.#events = events;
  }

  /**
   * Acts on the rows of a frame, in order. What one row leads to, however it
   * ends, keeps no other from it.
   */
  receive(line: Connection, frame: EncodedData): void {
    let rows: unknown[];
    try {
      rows = this.#codec.decode(frame);
    } catch (error) {
      return this.#handleMalformed(
        0,
        `the server sent a malformed frame: ${(error as Error).message}`,
        line,
      );
    }
    for (const received of rows) {
      try {
        this.#checkAndHandle(received, line);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }

  #checkAndHandle(received: unknown, line: Connection): void {
    const problem = checkMessage(received);
    if (problem === undefined)
      return this.#handleMessage(received as ServerMessage, line);
    this.#handleMalformed(
      problem.id,
      `the server sent a malformed row: ${problem.field}: ${problem.reason}`,
      line,
    );
  }

  #handleMessage(row: ServerMessage, line: Connection): void {
    switch (row[KIND_AT]) {
      case 'view':
      case 'final':
        return this.#inFlight.handleView(row, line);
      case 'confirm':
        return this.#inFlight.handleConfirm(row, line);
      case 'fail':
        return this.#handleFail(row, line);
      case 'welcome':
        if (line.welcome === undefined)
          return this.#events.onWelcome(line, row[BODY_AT]);
        return this.#handleMalformed(
          0,
          'the server welcomed the client twice',
          line,
        );
      case 'renewed':
        return this.#events.onRenewed(line, row[BODY_AT] ?? undefined);
      case 'goaway':
        return this.#events.onGoaway(line, row[BODY_AT]);
      case 'incoming':
        return this.#events.onIncoming(line, row[NUMBER_AT]);
      case 'ping':
        return line.push([row[NUMBER_AT], 'pong']);
      case 'pong':
        return undefined;
    }
  }

  /**
   * A row that is none; `id` is the operation that it seems to be about, or 0.
   */
  #handleMalformed(id: number, message: string, line: Connection): void {
    const error = new CorrectableError('PROTOCOL', message);
    this.#inFlight.handleMalformed(id, error, line);
    if (++line.malformedCount >= MAX_MALFORMED_MESSAGES)
      this.#events.onMalformed(line, error);
  }

  #handleFail(row: FailMessage, line: Connection): void {
    if (row[NUMBER_AT] > 0) this.#inFlight.handleFail(row, line);
    else line.closeError = fromFailMessage(row);
  }
}
