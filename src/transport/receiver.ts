/**
 * Handles the messages of a server. Replies go to the operations that wait for them on that
 * connection, everything else to the client.
 */
import { CorrectableError } from '../correctable/errors.ts';
import type { Codec, EncodedData } from '../protocol/codec/codec.ts';
import { BODY_AT, KIND_AT, NUMBER_AT } from '../protocol/messages/define-message.ts';
import type { FailMessage } from '../protocol/messages/fail.ts';
import { serverMessageKinds, type ServerMessage } from '../protocol/messages/server-messages.ts';
import type { Welcome } from '../protocol/messages/welcome.ts';
import { fromFailMessage } from '../protocol/errors.ts';
import type { InFlightOperations } from './operations/in-flight-operations.ts';
import type { Connection } from './connection/connection.ts';
import { createMessageCheck, isSimpleView } from '../protocol/messages/message-check.ts';
import { reportUncaught } from './options/guard-callbacks.ts';

/** Malformed messages of a server before its connection is given up. */
const MAX_MALFORMED_MESSAGES = 8;

const checkMessage = createMessageCheck(serverMessageKinds, {
  isSimple: isSimpleView,
});

export interface ReceiverEvents {
  onWelcome(connection: Connection, welcome: Welcome): void;
  onRenewed(connection: Connection, expiresInMs: number | undefined): void;
  onGoaway(connection: Connection, drainMs: number): void;
  /** Called when a frame of this many bytes follows. */
  onIncoming(connection: Connection, bytes: number): void;
  /** Called when the server sends too many malformed messages. */
  onMalformed(connection: Connection, error: CorrectableError): void;
}

export class Receiver {
  readonly #codec: Codec;
  readonly #inFlight: InFlightOperations;
  readonly #events: ReceiverEvents;

  constructor(codec: Codec, inFlight: InFlightOperations, events: ReceiverEvents) {
    this.#codec = codec;
    this.#inFlight = inFlight;
    this.#events = events;
  }

  /**
   * Handles the messages of a frame, in order. If one of them fails, the others are handled all the
   * same.
   */
  receive(connection: Connection, frame: EncodedData): void {
    let messages: unknown[];
    try {
      messages = this.#codec.decode(frame);
    } catch (error) {
      return this.#handleMalformed(
        0,
        `the server sent a malformed frame: ${(error as Error).message}`,
        connection,
      );
    }
    for (const received of messages) {
      try {
        this.#checkAndHandle(received, connection);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }

  #checkAndHandle(received: unknown, connection: Connection): void {
    const problem = checkMessage(received);
    if (problem === undefined) return this.#handleMessage(received as ServerMessage, connection);
    this.#handleMalformed(
      problem.id,
      `the server sent a malformed row: ${problem.field}: ${problem.reason}`,
      connection,
    );
  }

  #handleMessage(message: ServerMessage, connection: Connection): void {
    switch (message[KIND_AT]) {
      case 'view':
      case 'final':
        return this.#inFlight.handleView(message, connection);
      case 'confirm':
        return this.#inFlight.handleConfirm(message, connection);
      case 'fail':
        return this.#handleFail(message, connection);
      case 'welcome':
        if (connection.welcome === undefined)
          return this.#events.onWelcome(connection, message[BODY_AT]);
        return this.#handleMalformed(0, 'the server welcomed the client twice', connection);
      case 'renewed':
        return this.#events.onRenewed(connection, message[BODY_AT] ?? undefined);
      case 'goaway':
        return this.#events.onGoaway(connection, message[BODY_AT]);
      case 'incoming':
        return this.#events.onIncoming(connection, message[NUMBER_AT]);
      case 'ping':
        return connection.push([message[NUMBER_AT], 'pong']);
      case 'pong':
        return undefined;
    }
  }

  /** Handles a malformed message. `id` is the operation that it seems to belong to, or 0. */
  #handleMalformed(id: number, message: string, connection: Connection): void {
    const error = new CorrectableError('PROTOCOL', message);
    this.#inFlight.handleMalformed(id, error, connection);
    if (++connection.malformedCount >= MAX_MALFORMED_MESSAGES)
      this.#events.onMalformed(connection, error);
  }

  #handleFail(message: FailMessage, connection: Connection): void {
    if (message[NUMBER_AT] > 0) this.#inFlight.handleFail(message, connection);
    else connection.closeError = fromFailMessage(message);
  }
}
