/** One socket, which stops calling back once it is dropped, and never throws. */
import type { Encoded } from '../../protocol/codec/codec.ts';
import type { WebSocketLike } from '../settings/websocket.ts';

/** What a socket reports. */
export interface SocketEvents {
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
