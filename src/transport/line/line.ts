/**
 * One socket and what was agreed on it: operations go out here, and their answers come back here. A client submits on
 * one line at a time; earlier ones may still bring answers.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import { fitsFrame, type Codec, type Encoded } from '../../protocol/codec/codec.ts';
import { Outbox } from '../../protocol/codec/outbox.ts';
import type { ClientRow } from '../../protocol/rows/client-kinds.ts';
import type { Welcome } from '../../protocol/rows/welcome.ts';
import { agreedOperations, type ConnectionSettings, type OwnContract } from '../settings/options.ts';
import type { Carrier, InFlightOperation } from '../operations/in-flight-operation.ts';
import { rowAt } from '../operations/submit-row.ts';
import type { WebSocketLike } from '../settings/websocket.ts';

/** What a line reports. */
export interface LineEvents {
  opened(line: Line): void;
  received(line: Line, frame: Encoded): void;
  /** Told once, also when the socket could not be opened; not once the line was dropped. */
  closed(line: Line, code: number, reason: string): void;
}

/** After how many submissions to acknowledge those that have ended. */
const ACK_STEP = 64;

/** A socket that is being opened, or open. */
export class Line implements Carrier {
  /** Counts the client's lines. */
  readonly attempt: number;
  awaited = 0;
  awaitedBytes = 0;
  retired = false;
  /** How many of its rows and frames made no sense. */
  malformed = 0;
  /** What the server said before it closes: why it does. */
  explanation: CorrectableError | undefined;
  /** How long the server that goes away stays for its answers, as it said. */
  drainMs = 0;
  readonly #codec: Codec;
  readonly #outbox: Outbox;
  readonly #socket: SocketHandle;
  #welcome: Welcome | undefined;
  #agreed: ReadonlySet<string> | undefined;
  #inFlightMax = Infinity;
  #acknowledged = 0;
  #unacknowledged = 0;

  /** Throws what the WebSocket class throws. */
  constructor(settings: ConnectionSettings, url: string, attempt: number, events: LineEvents) {
    const { WebSocket, codec, scheduling } = settings;
    this.attempt = attempt;
    this.#codec = codec;
    this.#socket = new SocketHandle(new WebSocket(url, [codec.subprotocol]), {
      opened: () => events.opened(this),
      received: (frame) => events.received(this, frame),
      closed: (code, reason) => events.closed(this, code, reason),
    });
    this.#outbox = new Outbox(
      codec,
      (fn) => scheduling.afterTick(fn),
      (frame) => this.#socket.send(frame),
    );
  }

  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  get memory(): string | undefined {
    return this.#welcome?.memory;
  }

  get site(): string | undefined {
    return this.#welcome?.site;
  }

  /** The server lets the client in, which was written for `contract`. */
  welcomed(welcome: Welcome, contract: OwnContract | undefined): void {
    this.#welcome = welcome;
    this.#agreed = agreedOperations(contract, welcome.contract);
    this.#outbox.frameBytesMax = welcome.limits.frameBytesMax;
    this.#inFlightMax = Math.max(1, welcome.limits.inFlightMax);
  }

  /** Whether its server takes one more operation at this time. */
  get hasRoom(): boolean {
    return this.awaited < this.#inFlightMax;
  }

  /** How large its server takes a frame. */
  get frameBytesMax(): number {
    return this.#outbox.frameBytesMax;
  }

  /** Submits an operation, or gives the reason why it cannot be. */
  submit(operation: InFlightOperation): CorrectableError | undefined {
    if (this.#agreed?.has(operation.name) === false) return this.#disagreement();
    const row = rowAt(this, operation, this.#codec);
    const { frameBytesMax } = this;
    if (!fitsFrame(this.#codec, row, frameBytesMax)) {
      const size = this.#codec.byteLength(row);
      const message = `args: the operation takes ${size} bytes, the server reads ${frameBytesMax} at most`;
      return new CorrectableError('INVALID_ARGUMENT', message, { field: 'args' });
    }
    operation.line = this;
    this.awaitedBytes += operation.largeBytes;
    this.#unacknowledged++;
    this.awaited++;
    this.#outbox.push(row);
    return undefined;
  }

  /** Whether it is time to acknowledge what has ended. */
  get isAckDue(): boolean {
    return this.#unacknowledged >= ACK_STEP;
  }

  /** All updates up to `watermark` have ended. */
  acknowledge(watermark: number): void {
    this.#unacknowledged = 0;
    if (watermark === this.#acknowledged || this.#welcome === undefined) return;
    this.#acknowledged = watermark;
    this.push([watermark, 'ack']);
  }

  push(row: ClientRow): void {
    this.#outbox.push(this.#codec.encodeRow(row));
  }

  /** Sends at once what was collected in this tick. */
  flush(): void {
    this.#outbox.flush();
  }

  /** Closes in order: what was said is sent first. */
  leave(): void {
    this.#outbox.flush();
    this.#socket.close();
  }

  /** Closes without waiting for a peer that may be gone; nothing is told any more. */
  drop(): void {
    this.#socket.drop();
  }

  #disagreement(): CorrectableError {
    const { name, hash } = this.#welcome?.contract ?? { name: 'none', hash: 'none' };
    const message = `operation: the server has another version of it, or none (contract ${name}, ${hash}): update the older of the two`;
    return new CorrectableError('UNSUPPORTED', message, { field: 'operation' });
  }
}

/** What a socket reports. */
interface SocketEvents {
  opened(): void;
  received(frame: Encoded): void;
  /** Told once, also when the socket could not be opened. */
  closed(code: number, reason: string): void;
}

/** The code of a socket that ended without one. */
const ABNORMAL = 1006;

const ignore = (): void => {};

interface ErrorEvent {
  readonly message?: unknown;
  readonly error?: { readonly message?: unknown; readonly code?: unknown; readonly errors?: unknown } | null;
}

/** A socket under the transport's control. */
export class SocketHandle {
  readonly #socket: WebSocketLike & { terminate?: () => void };
  readonly #events: SocketEvents;
  #over = false;

  constructor(socket: WebSocketLike, events: SocketEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => events.opened();
    socket.onmessage = ({ data }: { readonly data: unknown }) => events.received(frameOf(data));
    // An error is always followed by a close. Browsers say nothing more; `ws` tells why in the error's message.
    let problem = '';
    socket.onerror = (event: ErrorEvent) => {
      problem = problemOf(event);
    };
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      this.#closed(code, reason === '' ? problem : reason);
  }

  send(frame: Encoded): void {
    if (this.#over) return;
    try {
      this.#socket.send(frame);
    } catch (error) {
      // Told once whoever sends has done so: it may be in the middle of many operations.
      queueMicrotask(() => this.#closed(ABNORMAL, `sending failed: ${(error as Error | undefined)?.message}`));
    }
  }

  /** Closes in order: what was sent is delivered first, and `closed` is told. */
  close(): void {
    try {
      this.#socket.close(1000);
    } catch {
      queueMicrotask(() => this.#closed(ABNORMAL, 'closing failed'));
    }
  }

  /** Closes without waiting for a peer that may be gone; nothing is told any more. */
  drop(): void {
    const socket = this.#socket;
    this.#over = true;
    socket.onopen = ignore;
    socket.onmessage = ignore;
    try {
      if (socket.terminate === undefined) socket.close();
      else socket.terminate();
    } catch {
      // Nobody waits for a socket that was dropped.
    }
  }

  #closed(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.closed(code, reason);
  }
}

/** What went wrong: where several addresses were tried, the message may be empty and each attempt has its own. */
function problemOf({ message, error }: ErrorEvent): string {
  const texts = [message, error?.message, ...innerMessages(error?.errors), error?.code];
  return String(texts.find((text) => typeof text === 'string' && text !== '') ?? '');
}

function innerMessages(errors: unknown): unknown[] {
  return Array.isArray(errors) ? errors.map((error: unknown) => (error as Error | undefined)?.message) : [];
}

function frameOf(data: unknown): Encoded {
  return typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer);
}
