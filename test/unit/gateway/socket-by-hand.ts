/** A server's socket that the test drives by hand. */
import type { FramePart, ServerSocket, ServerSocketEvents } from '../../../src/server/gateway/socket.ts';
import { SUBPROTOCOL_JSON } from '../../support/wire.ts';

export class SocketByHand implements ServerSocket {
  readonly subprotocol = SUBPROTOCOL_JSON;
  bufferedBytes = 0;
  readonly calls: string[] = [];
  readonly parts: FramePart[] = [];
  events!: ServerSocketEvents;

  send(_data: unknown, part?: FramePart): void {
    if (part !== undefined) this.parts.push(part);
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
    this.events.closed();
  }

  listen(events: ServerSocketEvents): void {
    this.events = events;
  }
}
