/** A server's socket that the test drives by hand, and a client that was let in on one. */
import { createGatewayWith, type Gateway } from '../../../../../src/server/gateway/gateway.ts';
import type {
  FramePart,
  ServerSocket,
  ServerSocketEvents,
} from '../../../../../src/server/gateway/connection/socket.ts';
import {
  RawClient,
  StoreDouble,
  SUBPROTOCOL_JSON,
  type BoundedOptions,
} from '../../../../support/wire.ts';

export class SocketByHand implements ServerSocket {
  readonly subprotocol = SUBPROTOCOL_JSON;
  bufferedBytes = 0;
  readonly calls: string[] = [];
  readonly parts: FramePart[] = [];
  /** What it was given to send. */
  readonly rows: unknown[][] = [];
  events!: ServerSocketEvents;
  #unfinished = '';

  /** Messages that the client sends. */
  say(...rows: unknown[]): void {
    this.events.onFrame(JSON.stringify(rows));
  }

  /** The client takes all that waits. */
  drain(): void {
    this.bufferedBytes = 0;
    for (let next = this.parts.shift(); next !== undefined; next = this.parts.shift())
      next.onSent();
  }

  send(data: string | Uint8Array, part?: FramePart): void {
    if (part !== undefined) this.parts.push(part);
    this.#unfinished += typeof data === 'string' ? data : Buffer.from(data).toString();
    if (part?.isLast === false) return;
    this.rows.push(...(JSON.parse(this.#unfinished) as unknown[][]));
    this.#unfinished = '';
  }

  pause(): void {
    this.calls.push('pause');
  }

  resume(): void {
    this.calls.push('resume');
  }

  ping(): void {
    this.calls.push('ping');
  }

  close(code: number): void {
    this.calls.push(`close ${code}`);
  }

  terminate(): void {
    this.calls.push('terminate');
    this.events.onClose();
  }

  listen(events: ServerSocketEvents): void {
    this.events = events;
  }
}

/** Real also where timers are faked. */
const { setImmediate: afterEvents } = globalThis;

/** Lets promises settle, and what is sent at the end of the tick be sent. */
export const turn = (): Promise<void> => new Promise((resolve) => void afterEvents(resolve));

/** A gateway with one client, whose socket is in the hands of the test. */
export async function openByHand({ bounds = {}, ...options }: BoundedOptions = {}): Promise<{
  readonly gateway: Gateway;
  readonly store: StoreDouble;
  readonly socket: SocketByHand;
}> {
  const store = new StoreDouble();
  const gateway = createGatewayWith(bounds, { binding: store, ...options });
  return { gateway, store, socket: await greetAt(gateway) };
}

/** Opens one more connection, which has sent hello. */
export async function greetAt(gateway: Gateway, overrides: object = {}): Promise<SocketByHand> {
  const socket = new SocketByHand();
  gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
  socket.say([0, 'hello', { ...RawClient.hello(), ...overrides }]);
  await turn();
  return socket;
}
