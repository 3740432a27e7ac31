/**
 * One socket and what was agreed on it. A client submits on one line at a time;
 * earlier ones may still bring answers.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import {
  canFitFrame,
  type Codec,
  type EncodedData,
} from '../../protocol/codec/codec.ts';
import { FrameBatcher } from '../../protocol/codec/frame-batcher.ts';
import type { ClientMessage } from '../../protocol/messages/client-messages.ts';
import type { Welcome } from '../../protocol/messages/welcome.ts';
import {
  findAgreedOperations,
  type ResolvedConnectionOptions,
  type ClientContract,
} from '../options/options.ts';
import type {
  OperationConnection,
  InFlightOperation,
} from '../operations/in-flight-operation.ts';
import { createMessageFor } from '../operations/submit-message.ts';
import type { WebSocketLike } from '../options/websocket.ts';

export interface ConnectionEvents {
  onOpen(line: Connection): void;
  onFrame(line: Connection, frame: EncodedData): void;
  /**
   * Called once, also when the socket could not be opened; not once the line
   * was dropped.
   */
  onClose(line: Connection, code: number, reason: string): void;
}

/** After how many submissions to acknowledge those that have ended. */
const ACK_INTERVAL = 64;

export class Connection implements OperationConnection {
  /** Counts the client's lines. */
  readonly attempt: number;
  awaitedCount = 0;
  awaitedBytes = 0;
  isDraining = false;
  /** How many of its rows and frames made no sense. */
  malformedCount = 0;
  /** What the server said before it closes: why it does. */
  closeError: CorrectableError | undefined;
  /** How long the server that goes away stays for its answers, as it said. */
  drainMs = 0;
  welcome: Welcome | undefined;
  readonly #codec: Codec;
  readonly #batcher: FrameBatcher;
  readonly #socket: SocketHandle;
  #agreedOperations: ReadonlySet<string> | undefined;
  #maxInFlight = Infinity;
  #acknowledgedUpTo = 0;
  #unacknowledgedCount = 0;

  /** Throws what the WebSocket class throws. */
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

  /** The server lets the client in, which was written for `contract`. */
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

  /** Submits an operation, or gives the reason why it cannot be. */
  submit(operation: InFlightOperation): CorrectableError | undefined {
    if (this.#agreedOperations?.has(operation.name) === false)
      return this.#createContractMismatchError();
    const row = createMessageFor(this, operation, this.#codec);
    const { maxFrameBytes } = this;
    if (!canFitFrame(this.#codec, row, maxFrameBytes)) {
      const size = this.#codec.byteLength(row);
      const message = `args: the operation takes ${size} bytes, the server reads ${maxFrameBytes} at most`;
      return new CorrectableError('INVALID_ARGUMENT', message, {
        field: 'args',
      });
    }
    operation.connection = this;
    this.awaitedBytes += operation.largeBytes;
    this.#unacknowledgedCount++;
    this.awaitedCount++;
    this.#batcher.push(row);
    return undefined;
  }

  /** Whether it is time to acknowledge what has ended. */
  get isAckDue(): boolean {
    return this.#unacknowledgedCount >= ACK_INTERVAL;
  }

  acknowledge(watermark: number): void {
    this.#unacknowledgedCount = 0;
    if (watermark === this.#acknowledgedUpTo || this.welcome === undefined)
      return;
    this.#acknowledgedUpTo = watermark;
    this.push([watermark, 'ack']);
  }

  push(row: ClientMessage): void {
    this.#batcher.push(this.#codec.encodeMessage(row));
  }

  flush(): void {
    this.#batcher.flush();
  }

  /** Closes in order: what was said is sent first. */
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
  /** Called once, also when the socket could not be opened. */
  onClose(code: number, reason: string): void;
}

/** The code of a socket that ended without one. */
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
    socket.onmessage = ({ data }: { readonly data: unknown }) =>
      events.onFrame(toFrame(data));
    // An error is always followed by a close. Browsers give no reason; `ws`
    // gives it in the error's message.
    let problem = '';
    socket.onerror = (event: SocketErrorEvent) => {
      problem = describeProblem(event);
    };
    socket.onclose = ({
      code,
      reason,
    }: {
      readonly code: number;
      readonly reason: string;
    }) => this.#handleClose(code, reason === '' ? problem : reason);
  }

  send(frame: EncodedData): void {
    if (this.#isOver) return;
    try {
      this.#socket.send(frame);
    } catch (error) {
      // Reported after this tick: the caller may be in the middle of many
      // operations.
      queueMicrotask(() =>
        this.#handleClose(
          ABNORMAL_CLOSE_CODE,
          `sending failed: ${(error as Error | undefined)?.message}`,
        ),
      );
    }
  }

  /**
   * Closes in order: what was sent is delivered first, and `onClose` is called.
   */
  close(): void {
    try {
      this.#socket.close(1000);
    } catch {
      queueMicrotask(() =>
        this.#handleClose(ABNORMAL_CLOSE_CODE, 'closing failed'),
      );
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
      // The socket was dropped, so its errors have no listener.
    }
  }

  #handleClose(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.onClose(code, reason);
  }
}

/**
 * What went wrong: where several addresses were tried, the message may be empty
 * and each attempt has its own.
 */
function describeProblem({ message, error }: SocketErrorEvent): string {
  const texts = [
    message,
    error?.message,
    ...getInnerMessages(error?.errors),
    error?.code,
  ];
  return String(
    texts.find((text) => typeof text === 'string' && text !== '') ?? '',
  );
}

function getInnerMessages(errors: unknown): unknown[] {
  return Array.isArray(errors)
    ? errors.map((error: unknown) => (error as Error | undefined)?.message)
    : [];
}

function toFrame(data: unknown): EncodedData {
  return typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer);
}
