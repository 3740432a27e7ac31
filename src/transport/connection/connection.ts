/**
 * One socket with the result of its handshake. A client submits on one connection at a time.
 * Earlier ones may still receive replies.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import { canFitFrame, type Codec, type EncodedData } from '../../protocol/codec/codec.ts';
import { FrameBatcher } from '../../protocol/codec/frame-batcher.ts';
import type { ClientMessage } from '../../protocol/messages/client-messages.ts';
import type { Welcome } from '../../protocol/messages/welcome.ts';
import {
  findAgreedOperations,
  type ResolvedConnectionOptions,
  type ClientContract,
} from '../options/options.ts';
import type { OperationConnection, InFlightOperation } from '../operations/in-flight-operation.ts';
import { createMessageFor } from '../operations/submit-message.ts';
import type { WebSocketLike } from '../options/websocket.ts';

export interface ConnectionEvents {
  onOpen(connection: Connection): void;
  onFrame(connection: Connection, frame: EncodedData): void;
  /**
   * Called once, even if the socket could not be opened. Not called after the connection was
   * terminated.
   */
  onClose(connection: Connection, code: number, reason: string): void;
}

/** The number of submissions after which ended operations are acknowledged. */
const ACK_INTERVAL = 64;

export class Connection implements OperationConnection {
  /** The number of this connection among those of the client. */
  readonly attempt: number;
  awaitedCount = 0;
  awaitedBytes = 0;
  isDraining = false;
  /** The number of malformed messages and frames. */
  malformedCount = 0;
  /** The reason that the server sent before it closes. */
  closeError: CorrectableError | undefined;
  /** How long the server keeps the connection open for its replies after it sent `goaway`. */
  drainMs = 0;
  welcome: Welcome | undefined;
  readonly #codec: Codec;
  readonly #batcher: FrameBatcher;
  readonly #socket: SocketHandle;
  #agreedOperations: ReadonlySet<string> | undefined;
  #maxInFlight = Infinity;
  #acknowledgedUpTo = 0;
  #unacknowledgedCount = 0;

  /** Opens the socket. Throws what the WebSocket class throws. */
  constructor(
    settings: ResolvedConnectionOptions,
    url: string,
    attempt: number,
    events: ConnectionEvents,
  ) {
    const { WebSocket, codec, scheduling } = settings;
    this.attempt = attempt;
    this.#codec = codec;
    this.#socket = new SocketHandle(new WebSocket(url, [codec.subprotocol]), {
      onOpen: () => events.onOpen(this),
      onFrame: (frame) => events.onFrame(this, frame),
      onClose: (code, reason) => events.onClose(this, code, reason),
    });
    this.#batcher = new FrameBatcher(
      codec,
      (fn) => scheduling.afterTick(fn),
      (frame) => this.#socket.send(frame),
    );
  }

  get memoryId(): string | undefined {
    return this.welcome?.memoryId;
  }

  get site(): string | undefined {
    return this.welcome?.site;
  }

  /** Accepts the server's welcome to a client that was written for `contract`. */
  acceptWelcome(welcome: Welcome, contract: ClientContract | undefined): void {
    this.welcome = welcome;
    this.#agreedOperations = findAgreedOperations(contract, welcome.contract);
    this.#batcher.maxFrameBytes = welcome.limits.maxFrameBytes;
    this.#maxInFlight = Math.max(1, welcome.limits.maxInFlight);
  }

  get hasCapacity(): boolean {
    return this.awaitedCount < this.#maxInFlight;
  }

  get maxFrameBytes(): number {
    return this.#batcher.maxFrameBytes;
  }

  /** Submits an operation. Returns an error if it cannot be submitted. */
  submit(operation: InFlightOperation): CorrectableError | undefined {
    if (this.#agreedOperations?.has(operation.name) === false)
      return this.#createContractMismatchError();
    const message = createMessageFor(this, operation, this.#codec);
    const { maxFrameBytes } = this;
    if (!canFitFrame(this.#codec, message, maxFrameBytes)) {
      const size = this.#codec.byteLength(message);
      const problem = `args: the operation takes ${size} bytes, the server reads ${maxFrameBytes} at most`;
      return new CorrectableError('INVALID_ARGUMENT', problem, {
        field: 'args',
      });
    }
    operation.connection = this;
    this.awaitedBytes += operation.largeBytes;
    this.#unacknowledgedCount++;
    this.awaitedCount++;
    this.#batcher.push(message);
    return undefined;
  }

  /** Whether it is time to acknowledge ended operations. */
  get isAckDue(): boolean {
    return this.#unacknowledgedCount >= ACK_INTERVAL;
  }

  acknowledge(watermark: number): void {
    this.#unacknowledgedCount = 0;
    if (watermark === this.#acknowledgedUpTo || this.welcome === undefined) return;
    this.#acknowledgedUpTo = watermark;
    this.push([watermark, 'ack']);
  }

  push(message: ClientMessage): void {
    this.#batcher.push(this.#codec.encodeMessage(message));
  }

  flush(): void {
    this.#batcher.flush();
  }

  /** Closes in order: messages that are queued are sent first. */
  close(): void {
    this.#batcher.flush();
    this.#socket.close();
  }

  /** Closes without waiting for a peer that may be gone. No event follows. */
  terminate(): void {
    this.#socket.terminate();
  }

  #createContractMismatchError(): CorrectableError {
    const { name, hash } = this.welcome?.contract ?? {
      name: 'none',
      hash: 'none',
    };
    const message = `operation: the server has another version of it, or none (contract ${name}, ${hash}): update the older of the two`;
    return new CorrectableError('UNSUPPORTED', message, { field: 'operation' });
  }
}

interface SocketEvents {
  onOpen(): void;
  onFrame(frame: EncodedData): void;
  /** Called once, even if the socket could not be opened. */
  onClose(code: number, reason: string): void;
}

/** The code of a socket that closed without one. */
const ABNORMAL_CLOSE_CODE = 1006;

const ignoreEvent = (): void => {};

interface SocketErrorEvent {
  readonly message?: unknown;
  readonly error?: {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly errors?: unknown;
  } | null;
}

export class SocketHandle {
  readonly #socket: WebSocketLike & { terminate?: () => void };
  readonly #events: SocketEvents;
  #isOver = false;

  constructor(socket: WebSocketLike, events: SocketEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => events.onOpen();
    socket.onmessage = ({ data }: { readonly data: unknown }) => events.onFrame(toFrame(data));
    // An error is always followed by a close. Browsers give no reason; `ws` has it in the message
    // of the error.
    let problem = '';
    socket.onerror = (event: SocketErrorEvent) => {
      problem = describeProblem(event);
    };
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      this.#handleClose(code, reason === '' ? problem : reason);
  }

  send(frame: EncodedData): void {
    if (this.#isOver) return;
    try {
      this.#socket.send(frame);
    } catch (error) {
      // Reported after this tick, because the caller may be iterating over its operations.
      queueMicrotask(() =>
        this.#handleClose(
          ABNORMAL_CLOSE_CODE,
          `sending failed: ${(error as Error | undefined)?.message}`,
        ),
      );
    }
  }

  /** Closes in order: messages that are queued are delivered first, and `onClose` is called. */
  close(): void {
    try {
      this.#socket.close(1000);
    } catch {
      queueMicrotask(() => this.#handleClose(ABNORMAL_CLOSE_CODE, 'closing failed'));
    }
  }

  /** Closes without waiting for a peer that may be gone. No event follows. */
  terminate(): void {
    const socket = this.#socket;
    this.#isOver = true;
    socket.onopen = ignoreEvent;
    socket.onmessage = ignoreEvent;
    try {
      if (socket.terminate === undefined) socket.close();
      else socket.terminate();
    } catch {
      // The socket was terminated, so its errors have no listener.
    }
  }

  #handleClose(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.onClose(code, reason);
  }
}

/**
 * Returns the cause. If several addresses were tried, the message may be empty, and each attempt
 * has its own.
 */
function describeProblem({ message, error }: SocketErrorEvent): string {
  const texts = [message, error?.message, ...getInnerMessages(error?.errors), error?.code];
  return String(texts.find((text) => typeof text === 'string' && text !== '') ?? '');
}

function getInnerMessages(errors: unknown): unknown[] {
  return Array.isArray(errors)
    ? errors.map((error: unknown) => (error as Error | undefined)?.message)
    : [];
}

function toFrame(data: unknown): EncodedData {
  return typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer);
}
